"""The data of an experiment: read once; split, encoded and featurised once for each seed."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eventide.corpus.corpus import Corpus, Ints
from eventide.corpus.training_set import PreparedData, prepare_data
from eventide.data import read
from eventide.data.schema import SCHEMA
from eventide.data.splits import Groups
from eventide.errors import InputError, warn
from eventide.experiments.jobs import ExperimentPlan
from eventide.experiments.run_log import Sizes
from eventide.experiments.splitting import divided
from eventide.experiments.variants import Variant
from eventide.features.elements import with_elements
from eventide.features.encoders import Encoder, State, encoder
from eventide.features.encoders.text_encoder import Vectors
from eventide.graphs.settings import GraphSettings
from eventide.graphs.views import View


@dataclass(frozen=True)
class Material:
    """Canonical ``messages`` with their elements; ``fingerprint`` changes with any cell of them."""

    name: str
    messages: pl.DataFrame
    fingerprint: str
    entities: str = "rules"
    notes: tuple[str, ...] = ()


def read_material(
    source: Any,
    variants: Sequence[Variant] = (),
    *,
    columns: Mapping[str, str] | None = None,
    entities: str = "rules",
    name: str | None = None,
) -> Material:
    """Read any kind of source, with the columns that the variants' views need.

    What was read already (an `Intake`) is taken as it is. ``name`` is what tables call the data.

    >>> rows = [{"id": 1, "text": "flood", "created_at": "2013-06-21", "event": "alberta"}]
    >>> read_material(rows).name
    'messages'
    """
    intake = read(source, columns=columns, lists=needed_lists(variants))
    if intake is not source and len(intake.rejected):
        intake.check_rejected()
        warn(f"{intake.summary()}\n  these rows were set aside")
    if not intake.messages["event"].count():
        raise InputError(
            "a comparison needs labelled messages, found none",
            where="column event",
            next_step="map the column: --column event=NAME",
        )
    messages = with_elements(intake.messages, entities=entities)
    digest = blake2b(messages.write_ndjson().encode("utf-8", "surrogatepass"), digest_size=16)
    notes = (*intake.notes, *([intake.summary()] if len(intake.rejected) else []))
    return Material(name or data_name(source), messages, digest.hexdigest(), entities, notes)


def needed_lists(variants: Sequence[Variant]) -> list[str]:
    """Name the list columns that the variants' views need beyond those that are always read."""
    needed = {column for each in variants for view in each.graph_views() for column in view.columns}
    return sorted(needed - set(SCHEMA))


def data_name(source: Any) -> str:
    """Return what tables and folders call the data.

    >>> data_name("data/crisislex-t7.parquet"), data_name("-"), data_name([{"id": 1}])
    ('crisislex-t7', 'messages', 'messages')
    """
    named = isinstance(source, (str, Path)) and str(source) != "-"
    return Path(source).stem if named else "messages"


@dataclass(frozen=True)
class Prepared:
    """Prepared data and its test messages: rows of the graph, or a corpus of new messages."""

    data: PreparedData
    test: Ints | Corpus
    truth: Ints
    tested: str
    sizes: Sizes
    seconds: float


class Workshop:
    """Prepares what runs ask for, and keeps what the next run of the same seed can use."""

    def __init__(
        self, messages: pl.DataFrame, plan: ExperimentPlan, together: Groups = None
    ) -> None:
        self.messages = messages
        self.plan = plan
        self.together = together
        self.seed: int | None = None
        self.kept: dict[tuple[tuple[View, ...], str], Prepared] = {}

    def prepared(self, seed: int, views: tuple[View, ...], graph: GraphSettings) -> Prepared:
        """Return the prepared data of a seed with these views, from what is kept if possible."""
        if seed != self.seed:
            self.kept.clear()
            self.divided = divided(self.messages, self.plan.split, seed, self.together)
            self.encoder = CachingEncoder(encoder(self.plan.encoder))
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
        plan = prepare_data(
            blind, encoder=self.encoder, views=views, graph=graph, inductive=inductive, seed=seed
        )
        test = self.divided.filter(held_out)
        return Prepared(
            plan,
            plan.featuriser.prepare(blind.filter(held_out))
            if inductive
            else np.flatnonzero(held_out.to_numpy()),
            _numbers(test["event"].to_numpy().astype(str), plan.classes.tolist()),
            _digest(test),
            Sizes(
                train=len(plan.training_set.training_rows),
                validation=len(plan.training_set.validation),
                test=len(test),
            ),
            time.perf_counter() - started,
        )


class CachingEncoder:
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
