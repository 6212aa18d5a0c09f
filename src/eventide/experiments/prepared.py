"""The data of an experiment: read once; split, encoded and featurised once for each seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any, Self

import numpy as np
import polars as pl

from eventide.corpus.corpus import Ints
from eventide.corpus.messages import Messages
from eventide.data import read
from eventide.data.lock import Lock, lock_of, tuning_mask
from eventide.data.near_duplicates import near_duplicate_groups
from eventide.data.schema import SCHEMA
from eventide.data.split_draws import Groups, Small
from eventide.data.splits import split_groups, split_messages
from eventide.errors import InputError, warn
from eventide.experiments.jobs import ExperimentPlan
from eventide.experiments.regime_draws import Pool
from eventide.experiments.regimes import regime
from eventide.experiments.variants import Variant
from eventide.features.encoders import Encoder, State, encoder
from eventide.features.encoders.text_encoder import Vectors
from eventide.model.fitted import FittedMethod, PreparedCache, fit_method
from eventide.settings import Settings


@dataclass(frozen=True)
class ExperimentData:
    """Canonical ``messages`` with their elements; ``fingerprint`` changes with any cell of them."""

    name: str
    messages: pl.DataFrame
    fingerprint: str
    entities: str = "rules"
    notes: tuple[str, ...] = ()

    @cached_property
    def lock(self) -> Lock:
        """Which of the messages are locked."""
        return lock_of(self.messages)

    @cached_property
    def locked_pool(self) -> Pool:
        """All messages; the locked ones are to be tested."""
        return Pool(self.messages, self.lock.mask, near_duplicate_groups(self.messages["text"]))

    @cached_property
    def tuning_pool(self) -> Pool:
        """The messages that settings may be chosen on; some stand in for the locked ones."""
        unlocked = self.messages.filter(~self.lock.mask)
        groups = near_duplicate_groups(unlocked["text"])
        return Pool(unlocked, tuning_mask(unlocked), groups)


def read_experiment_data(
    source: Any,
    variants: Sequence[Variant] = (),
    *,
    columns: Mapping[str, str] | None = None,
    entities: str = "rules",
    name: str | None = None,
) -> ExperimentData:
    """Read any kind of source, with the columns that the variants' views need.

    What was read already (an `Intake`) is taken as it is. ``name`` is what tables call the data.

    >>> rows = [{"id": 1, "text": "flood", "created_at": "2013-06-21", "event": "alberta"}]
    >>> read_experiment_data(rows).name
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
    messages = Messages.of(intake, entities=entities).messages
    digest = blake2b(messages.write_ndjson().encode("utf-8", "surrogatepass"), digest_size=16)
    notes = (*intake.notes, *([intake.summary()] if len(intake.rejected) else []))
    return ExperimentData(name or data_name(source), messages, digest.hexdigest(), entities, notes)


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


class SeedSplit:
    """The messages of one seed's split, their test labels hidden, and what runs on them share.

    ``test`` holds the labelled test messages. The encoder is fitted once, messages are encoded
    once, and views are built once for all variants that read the same ones.
    """

    def __init__(self, messages: pl.DataFrame, plan: ExperimentPlan, seed: int) -> None:
        held_out = (messages["split"] == "test").fill_null(False) & messages["event"].is_not_null()
        # Nothing that learns ever holds a test label, not even by mistake.
        hidden = pl.when(~held_out).then(pl.col("event")).alias("event")
        self.messages = messages.with_columns(hidden)
        self.seed = seed
        self.protocol = plan.protocol
        self.unseen_apart = bool(plan.regime) and regime(plan.regime).in_turn
        self.test = messages.filter(held_out)
        self.tested = _digest(self.test)
        self._encoder = CachingEncoder(encoder(plan.encoder))
        self._cache = PreparedCache()

    def fit(self, variant: Variant, settings: Settings) -> FittedMethod:
        """Fit a variant on the training messages, as `EventClassifier.fit` does."""
        return fit_method(
            self.messages,
            method=variant.method,
            settings=settings,
            encoder=self._encoder,
            views=variant.graph_views(),
            protocol=self.protocol,
            seed=self.seed,
            cache=self._cache,
        )


class SplitMessages:
    """The messages of an experiment; a seed's split is kept until another seed is asked for.

    In a regime they are a ``pool``.
    """

    def __init__(
        self, messages: pl.DataFrame, plan: ExperimentPlan, pool: Pool | None = None
    ) -> None:
        self.messages = messages
        self.plan = plan
        self.pool = pool
        self._kept: SeedSplit | None = None

    @classmethod
    def of_data(cls, data: ExperimentData, plan: ExperimentPlan) -> Self:
        """Take the messages that a plan may see: with ``tuning`` none that is locked."""
        if not plan.regime:
            return cls(data.messages, plan)
        pool = data.tuning_pool if plan.tuning else data.locked_pool
        return cls(pool.messages, plan, pool)

    def frame(self, seed: int, small: Small = "error") -> pl.DataFrame:
        """Return the messages with the split of a seed; see `split_messages` for ``small``."""
        if self.pool is not None:
            return regime(self.plan.regime).draw(self.pool, seed)
        return split_messages(self.messages, self.plan.split, seed, self._groups, small)

    def of(self, seed: int) -> SeedSplit:
        """Return the split of a seed, the same for every variant."""
        if self._kept is None or self._kept.seed != seed:
            self._kept = SeedSplit(self.frame(seed), self.plan, seed)
        return self._kept

    @cached_property
    def _groups(self) -> Groups:
        return split_groups(self.messages, self.plan.split)


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
        """Values per message."""
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


def class_indices(events: Sequence[str], classes: Sequence[str]) -> Ints:
    """Return the index of each event among the classes; unknown events come after them, sorted.

    >>> class_indices(["flood", "quake", "fire"], ["fire", "flood"]).tolist()
    [1, 2, 0]
    """
    unknown = sorted(set(events) - set(classes))
    index = {event: at for at, event in enumerate([*classes, *unknown])}
    return np.array([index[event] for event in events], dtype=np.int64)


def _digest(messages: pl.DataFrame) -> str:
    joined = "\0".join(messages["id"]).encode("utf-8", "surrogatepass")
    return blake2b(joined, digest_size=16).hexdigest()
