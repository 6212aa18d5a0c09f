"""Invented graphs for the tests of this folder: every shape the neighbourhoods must get right."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from hypothesis import strategies as st

from eventide.graphs.incidence import Incidence


@dataclass(frozen=True)
class Case:
    sets: list[list[str]]
    times: np.ndarray
    seed: int
    most: int
    rare: int
    pace: float

    @property
    def incidence(self) -> Incidence:
        return Incidence.of(self.sets)

    @property
    def span(self) -> float:
        """Slopes in the rates are distances times values: rounding is relative to that."""
        return max(float(np.ptp(self.times)), 1.0)

    def values(self, dtype: torch.dtype, count: int | None = None, width: int = 3) -> torch.Tensor:
        random = np.random.default_rng(self.seed)
        count = len(self.sets) if count is None else count
        return torch.tensor(random.normal(size=(count, width)), dtype=dtype)

    def rates(self, dtype: torch.dtype, count: int | None = None) -> torch.Tensor:
        random = np.random.default_rng(self.seed + 1)
        count = len(self.sets) if count is None else count
        return torch.tensor(random.uniform(-self.pace, self.pace, size=count), dtype=dtype)


@st.composite
def element_sets(draw: st.DrawFn, least: int = 1, vocabulary: int | None = None) -> list[list[str]]:
    kind = draw(st.sampled_from(["mixed", "isolated", "clique", "identical", "wide", "empty"]))
    count = draw(st.integers(least, 24))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    words = vocabulary or draw(st.integers(1, 14))

    def some(low: int, high: int) -> list[str]:
        return [f"e{word}" for word in random.integers(0, words, random.integers(low, high + 1))]

    if kind == "isolated":
        return [[f"only{row}"] for row in range(count)]
    if kind == "clique":
        return [["everybody", *some(0, 2)] for _ in range(count)]
    if kind == "identical":
        kinds = [some(1, 4), some(0, 2)]
        return [kinds[row % 2] for row in range(count)]
    if kind == "wide":
        words = 60
        return [some(1, 40) if row % 3 == 0 else some(0, 5) for row in range(count)]
    if kind == "empty":
        return [[] for _ in range(count)]
    return [some(0, 4) for _ in range(count)]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    sets = draw(element_sets())
    span = draw(st.sampled_from([1, 4, 3 * 365]))
    times = np.random.default_rng(draw(st.integers(0, 2**32 - 1))).integers(0, span, len(sets))
    return Case(
        sets,
        times - span // 2,
        draw(st.integers(0, 2**31)),
        draw(st.sampled_from([0, 1, 2, 6])),
        draw(st.sampled_from([0, 2, 12])),
        draw(st.sampled_from([0.01, 1.0, 1e3])),
    )


def close(got: torch.Tensor, wanted: torch.Tensor, tolerance: float, least: float = 1e-3) -> None:
    """Relative to the largest number wanted (or to ``least``), and every number finite."""
    got, wanted = got.detach().double(), wanted.detach().double()
    assert got.shape == wanted.shape
    assert torch.isfinite(got).all()
    if got.numel():
        scale = max(float(wanted.abs().max()), least)
        assert float((got - wanted).abs().max()) <= tolerance * scale
