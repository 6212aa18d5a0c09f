"""Vectors the user brings: widths, gaps and bad numbers are found and named."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from eventide.errors import InputError, MissingColumn, UnreadableSource
from eventide.features.encoders import State, encoder


def frame(*vectors: list[float | None] | None) -> pl.DataFrame:
    ids = [f"m{row}" for row in range(len(vectors))]
    return pl.DataFrame(
        {"id": ids, "vector": list(vectors)}, schema_overrides={"vector": pl.List(pl.Float32)}
    )


def test_vectors_come_through_unchanged() -> None:
    found = encoder("precomputed").fit(frame([1.0, 2.0])).encode(frame([3.0, 4.5], [0.0, -1.0]))
    assert found.dtype == np.float32
    assert found.tolist() == [[3.0, 4.5], [0.0, -1.0]]


@pytest.mark.parametrize(
    ("vectors", "words"),
    [
        (([1.0, 2.0], [1.0]), "message m1"),
        (([1.0, 2.0], None, None), r"message m1 \(2 such"),
        (([1.0, 2.0], [1.0, float("nan")]), "message m1"),
        (([1.0, 2.0], [1.0, None]), "message m1"),
        (([1.0, 2.0], [float("inf"), 0.0]), "message m1"),
        ((None, [1.0]), "first message"),
        (([], []), "width"),
        ((), "width"),
    ],
)
def test_bad_vectors_are_named(vectors: tuple[list[float], ...], words: str) -> None:
    with pytest.raises(InputError, match=words):
        encoder("precomputed").fit(frame(*vectors))


def test_another_width_later_is_an_error() -> None:
    fitted = encoder("precomputed").fit(frame([1.0, 2.0]))
    with pytest.raises(InputError, match="expected vectors of 2 numbers, found a vector of 3"):
        fitted.encode(frame([1.0, 2.0, 3.0]))


def test_a_missing_column_is_named() -> None:
    with pytest.raises(MissingColumn, match="vector"):
        encoder("precomputed").fit(pl.DataFrame({"id": ["a"]}))


@pytest.mark.parametrize("width", [0, None, "2", -1, True])
def test_a_damaged_width_is_refused(width: object) -> None:
    with pytest.raises(UnreadableSource):
        encoder("precomputed").restore(State({}, {"width": width}))  # type: ignore[dict-item]
