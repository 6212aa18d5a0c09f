"""Preparation shared by the runs of a seed: split, encoder, vectors, incidences."""

from __future__ import annotations

import time
from dataclasses import dataclass
from hashlib import blake2b
from typing import Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eventide.comparison.plan import Plan
from eventide.comparison.rows import Sizes
from eventide.comparison.splitting import divided
from eventide.data.splits import Groups
from eventide.features.encoders import Encoder, State, encoder
from eventide.features.encoders.base import Vectors
from eventide.graphs.settings import GraphSettings
from eventide.graphs.views import View
from eventide.training.corpus import Corpus, Ints
from eventide.training.study import Study, study


@dataclass(frozen=True)
class Prepared:
    """A study and the messages that will be judged: rows of its graph, or a corpus of new ones."""

    study: Study
    test: Ints | Corpus
    truth: Ints
    tested: str
    sizes: Sizes
    seconds: float


class Workshop:
    """Prepares what runs ask for, and keeps what the next run of the same seed can use."""

    def __init__(self, messages: pl.DataFrame, plan: Plan, together: Groups = None) -> None:
        self.messages = messages
        self.plan = plan
        self.together = together
        self.seed: int | None = None
        self.kept: dict[tuple[tuple[View, ...], str], Prepared] = {}

    def prepared(self, seed: int, views: tuple[View, ...], graph: GraphSettings) -> Prepared:
        """Return the study of a seed with these views, from what is kept if possible."""
        if seed != self.seed:
            self.kept.clear()
            self.divided = divided(self.messages, self.plan.split, seed, self.together)
            self.encoder = SharedEncoder(encoder(self.plan.encoder))
            self.seed = seed
        known = (views, graph.model_dump_json())
        if known not in self.kept:
            self.kept[known] = self._prepare(seed, views, graph)
        return self.kept[known]

    def _prepare(self, seed: int, views: tuple[View, ...], graph: GraphSettings) -> Prepared:
        started = time.perf_counter()
        inductive = self.plan.protocol == "inductive"
        held_out = (self.divided["split"] == "test").fill_null(False)
        held_out &= self.divided["event"].is_not_null()
        # Nothing that learns ever holds a test label, not even by mistake.
        hidden = pl.when(~held_out).then(pl.col("event")).alias("event")
        blind = self.divided.with_columns(hidden)
        plan = study(
            blind, encoder=self.encoder, views=views, graph=graph, inductive=inductive, seed=seed
        )
        test = self.divided.filter(held_out)
        return Prepared(
            plan,
            plan.preparation.prepare(blind.filter(held_out))
            if inductive
            else np.flatnonzero(held_out.to_numpy()),
            _numbers(test["event"].to_numpy().astype(str), plan.classes.tolist()),
            _digest(test),
            Sizes(
                train=len(plan.problem.training_rows),
                validation=len(plan.problem.validation),
                test=len(test),
            ),
            time.perf_counter() - started,
        )


class SharedEncoder:
    """An encoder for one split of one dataset: it fits once and encodes the same messages once."""

    def __init__(self, inner: Encoder) -> None:
        self.inner = inner
        self.fitted = False
        self.vectors: dict[str, Vectors] = {}

    @property
    def name(self) -> str:
        """The specification of the encoder inside."""
        return self.inner.name

    @property
    def width(self) -> int:
        """Numbers per message."""
        return self.inner.width

    def fit(self, messages: pl.DataFrame) -> Self:
        """Fit on the training messages, which are the same for every run of a seed."""
        if not self.fitted:
            self.inner.fit(messages)
            self.fitted = True
        return self

    def encode(self, messages: pl.DataFrame) -> Vectors:
        """Return the vectors, from what is kept if these messages have been encoded before."""
        digest = _digest(messages)
        if digest not in self.vectors:
            self.vectors[digest] = self.inner.encode(messages)
        return self.vectors[digest]

    def state(self) -> State:
        """The state of the encoder inside."""
        return self.inner.state()

    def restore(self, state: State) -> Self:
        """Hand a state to the encoder inside."""
        self.inner.restore(state)
        return self


def _numbers(events: NDArray[np.str_], classes: list[str]) -> Ints:
    """Number events as the classes are; events that training does not know come after them."""
    unknown = sorted(set(events.tolist()) - set(classes))
    places = {event: place for place, event in enumerate([*classes, *unknown])}
    return np.array([places[event] for event in events.tolist()], dtype=np.int64)


def _digest(messages: pl.DataFrame) -> str:
    joined = "\0".join(messages["id"]).encode("utf-8", "surrogatepass")
    return blake2b(joined, digest_size=16).hexdigest()
