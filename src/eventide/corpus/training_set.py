"""From labelled messages to a training set: who is trained on, who validates, who is remembered.

It is cut so that no label but a training message's can reach a weight.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eventide.corpus.corpus import Corpus, Featuriser
from eventide.data.split_draws import proportional_split
from eventide.errors import InputError
from eventide.features.encoders import Encoder
from eventide.graphs.settings import GraphSettings
from eventide.graphs.views import View

Ints = NDArray[np.int64]
UNLABELLED = -1


@dataclass(frozen=True)
class Validation:
    """Messages that choose the best epoch, and nothing else.

    Transductive: they are ``rows`` of the graph. Inductive: they are a ``corpus`` of new messages,
    scored by look-up.
    """

    labels: Ints
    rows: Ints | None = None
    corpus: Corpus | None = None

    def __len__(self) -> int:
        return len(self.labels)


def _nobody() -> Ints:
    return np.zeros(0, dtype=np.int64)


@dataclass(frozen=True)
class TrainingSet:
    """A corpus, the labels of its training messages (-1 elsewhere), and the validation messages.

    ``unlabelled`` are the rows of messages that nobody has labelled: what they look like may be
    learned from. Messages to be tested or validated on are not among them.
    """

    corpus: Corpus
    labels: Ints
    classes: int
    validation: Validation
    unlabelled: Ints = field(default_factory=_nobody)

    @property
    def training_rows(self) -> Ints:
        """The rows of the graph whose label may be learned from."""
        return np.flatnonzero(self.labels != UNLABELLED)

    @property
    def class_counts(self) -> Ints:
        """How many training messages each class has."""
        return np.bincount(self.labels[self.training_rows], minlength=self.classes)


HELD_OUT = 0.1


@dataclass(frozen=True)
class MessageCounts:
    """How many messages were trained on, chose the epoch, and were in the graph without a label."""

    labelled: int
    validating: int
    unlabelled: int


@dataclass(frozen=True)
class PreparedData:
    """A training set, how its messages were featurised, what is remembered, notes for the user."""

    training_set: TrainingSet
    featuriser: Featuriser
    classes: NDArray[np.str_]
    remembered: pl.DataFrame
    counts: MessageCounts
    notes: tuple[str, ...]


def prepare_data(
    messages: pl.DataFrame,
    *,
    encoder: Encoder,
    views: Sequence[View],
    graph: GraphSettings,
    inductive: bool,
    seed: int,
    class_order: Callable[[str], Any] = str,
    salt: bytes | None = None,
) -> PreparedData:
    """Set up learning from canonical ``messages`` whose elements are filled in.

    Without a split a tenth of each event is held out for validation. Only the training messages'
    text and labels reach the encoder's fit, the classes and the training set's labels. An
    inductive training set leaves validation and test messages out of the graph. Classes are sorted
    by ``class_order``. A given ``salt`` is kept apart from the model.
    """
    notes = []
    if messages["split"].null_count() == len(messages):
        messages = proportional_split(messages, validation=HELD_OUT, test=0.0, seed=seed)
        held = int((messages["split"] == "val").sum())
        notes.append(f"no split given: {held} messages, a tenth of each event, chosen by the seed")
        notes[-1] += ", are held out to choose the best epoch"
    part = messages["split"].to_numpy()
    labelled = messages["event"].is_not_null().to_numpy()
    training = labelled & (part == "train")
    events = messages["event"].to_numpy()
    classes = _classes(events[training], class_order)
    number = {str(name): at for at, name in enumerate(classes)}

    known = labelled & np.isin(messages["event"].fill_null("").to_numpy(), classes)
    validating = known & (part == "val")
    unknown = int((labelled & (part == "val") & ~known).sum())
    if unknown:
        notes.append(f"{unknown} validation messages are of events without training messages")
        notes[-1] += ": they take no part in choosing the epoch"
    loose = int((labelled & messages["split"].is_null().to_numpy()).sum())
    if loose:
        notes.append(f"{loose} labelled messages have no split: their labels are not used")

    featuriser = Featuriser(
        encoder.fit(messages.filter(pl.Series(training))),
        tuple(views),
        graph,
        _salt(messages, seed) if salt is None else salt,
        salt_apart=salt is not None,
    )
    inside = ~np.isin(part, ("val", "test")) if inductive else np.ones(len(messages), dtype=bool)
    remembered = messages.filter(pl.Series(inside))
    labels = np.full(len(messages), UNLABELLED, dtype=np.int64)
    labels[training] = [number[event] for event in events[training]]
    held_out = np.array([number[event] for event in events[validating]], dtype=np.int64)
    validation = (
        Validation(held_out, corpus=featuriser.prepare(messages.filter(pl.Series(validating))))
        if inductive and validating.any()
        else Validation(held_out, rows=np.flatnonzero(validating))
    )
    free = inside & ~labelled & ~np.isin(part, ("val", "test"))
    training_set = TrainingSet(
        featuriser.prepare(remembered),
        labels[inside],
        len(classes),
        validation,
        np.flatnonzero(free[inside]),
    )
    counts = MessageCounts(
        int(training.sum()), int(validating.sum()), int((inside & ~labelled).sum())
    )
    return PreparedData(training_set, featuriser, classes, remembered, counts, tuple(notes))


def _classes(events: NDArray[np.object_], order: Callable[[str], Any]) -> NDArray[np.str_]:
    classes = np.array(sorted(set(events), key=order), dtype=np.str_)
    if len(classes) < 2:
        found = "none" if not len(classes) else f"only {str(classes[0])!r}"
        raise InputError(
            f"training needs messages of at least two events, found {found}",
            where="column event, rows whose split is train",
            next_step="label messages of more events, or map the column: --column event=NAME",
        )
    return classes


def _salt(messages: pl.DataFrame, seed: int) -> bytes:
    """Derive the salt from data and seed: other models have others, the same run has the same."""
    digest = blake2b(f"eventide {seed}".encode(), digest_size=16)
    digest.update("\0".join(messages["id"]).encode("utf-8", "surrogatepass"))
    return digest.digest()
