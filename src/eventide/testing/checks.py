"""Invariants that every registered method must pass, and a runner for them."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eventide.model import EventClassifier, load_model
from eventide.model.forget import forget

SEED = 3
ONE_OF_A_KIND = "only one message"


class Subject:
    """One method on labelled ``messages`` with a split; a tenth of them are kept as new ones."""

    def __init__(self, method: str, messages: pl.DataFrame, **parameters: Any) -> None:
        self.method = method
        self.parameters = {"seed": SEED, **parameters}
        tenth = pl.int_range(pl.len()) % 10 == 9
        self.known = messages.filter(~tenth)
        self.new = messages.filter(tenth)

    def fitted(self, messages: pl.DataFrame, **changes: Any) -> EventClassifier:
        """Fit a model on ``messages``."""
        return EventClassifier(method=self.method, **(self.parameters | changes)).fit(messages)

    @cached_property
    def model(self) -> EventClassifier:
        """The plain case, with the test messages in the graph as the paper has them."""
        return self.fitted(self.known)

    @cached_property
    def twin(self) -> EventClassifier:
        """The same again, but every test message is labelled with another event."""
        return self.fitted(relabelled(self.known, "test"))

    @cached_property
    def harsh(self) -> EventClassifier:
        """One epoch on unfriendly messages, without validation and test messages in the graph."""
        return self.fitted(self.unfriendly, protocol="inductive", training__epochs=1)

    @cached_property
    def harsh_twin(self) -> EventClassifier:
        """The same again, but every validation message is labelled with another event."""
        other = relabelled(self.unfriendly, "val")
        return self.fitted(other, protocol="inductive", training__epochs=1)

    @cached_property
    def unfriendly(self) -> pl.DataFrame:
        """The known messages with an event of one message, unlabelled rows, and a wordless one."""
        training = np.flatnonzero((self.known["split"] == "train").to_numpy())
        lone, wordless = (pl.int_range(pl.len()) == int(row) for row in training[:2])
        unlabelled = (pl.int_range(pl.len()) % 7 == 6) & ~lone
        return self.known.with_columns(
            event=pl.when(lone).then(pl.lit(ONE_OF_A_KIND)).when(~unlabelled).then(pl.col("event")),
            text=pl.when(wordless).then(pl.lit("\N{FIRE}\N{FIRE}")).otherwise(pl.col("text")),
            user=pl.when(~wordless).then(pl.col("user")),
        )


def relabelled(messages: pl.DataFrame, part: str) -> pl.DataFrame:
    """Give every labelled message of a part of the split another event, by turns.

    >>> frame = pl.DataFrame({"event": ["a", "b", None], "split": ["val", "test", "val"]})
    >>> relabelled(frame, "val")["event"].to_list()
    ['b', 'b', None]
    """
    events = messages["event"].drop_nulls().unique().sort().to_list()
    following = dict(zip(events, events[1:] + events[:1], strict=True))
    other = pl.col("event").replace(following)
    return messages.with_columns(
        event=pl.when(pl.col("split") == part).then(other).otherwise(pl.col("event"))
    )


Check = Callable[[Subject], list[str]]
ROUNDING = 1e-6


def fits(subject: Subject) -> list[str]:
    """Training leaves finite figures and an epoch to keep."""
    history, best = subject.model.history_, subject.model.best_epoch_
    complaints = [
        f"{name} of epoch {row['epoch']:g} is {value}"
        for row in history
        for name, value in row.items()
        if not np.isfinite(value)
    ]
    if not 1 <= best <= len(history):
        complaints.append(f"the best epoch is {best} of {len(history)}")
    return complaints


def gives_probabilities(subject: Subject) -> list[str]:
    """Probabilities of known and new messages are valid, and the event is one it has learned."""
    return [
        f"{which} messages: {complaint}"
        for which, frame in (("known", subject.known), ("new", subject.new))
        for complaint in _invalid(subject.model, frame)
    ]


def gives_opinions(subject: Subject) -> list[str]:
    """Opinions come one per message, in order, with finite numbers and uncertainty in 0..1."""
    frame = pl.concat([subject.new, subject.known])
    opinions = subject.model.opinions(frame)
    complaints = []
    if opinions["id"].to_list() != frame["id"].to_list():
        complaints.append("the rows are not those of the messages, in their order")
    numbers = opinions.select(pl.selectors.numeric())
    complaints += [
        f"the column {name} has values that are not finite"
        for name in numbers.columns
        if not np.isfinite(numbers[name].to_numpy()).all()
    ]
    if not opinions["uncertainty"].is_between(0, 1).all():
        complaints.append("uncertainty leaves 0..1")
    return complaints


def repeats_and_ignores_test_labels(subject: Subject) -> list[str]:
    """The same seed gives the same model bit for bit, whatever the test messages are labelled."""
    differing = _differences(subject.model, subject.twin)
    if not differing:
        return []
    if _differences(subject.model, subject.fitted(subject.known)):
        return [f"the same seed gives another model: {', '.join(differing)} differ"]
    return [f"test labels change {', '.join(differing)}"]


def ignores_validation_labels(subject: Subject) -> list[str]:
    """Validation labels choose among epochs: with one to choose from, they change nothing."""
    differing = _differences(subject.harsh, subject.harsh_twin)
    return [f"validation labels change {', '.join(differing)}"] if differing else []


def survives_unfriendly_messages(subject: Subject) -> list[str]:
    """An event of one message, unlabelled rows and a message without words do no harm."""
    complaints = _invalid(subject.harsh, subject.unfriendly)
    if ONE_OF_A_KIND not in subject.harsh.classes_:
        complaints.append("the event of one message is not among the classes")
    return complaints


def judges_alone(subject: Subject) -> list[str]:
    """What is said of a message does not depend on which others are asked about with it."""
    complaints = []
    for which, model, frame, as_new in (
        ("known", subject.model, subject.known, False),
        ("new", subject.model, subject.new, False),
        ("new (inductive)", subject.harsh, subject.known, True),
    ):
        some = np.arange(len(frame))[:: -max(len(frame) // 5, 1)]
        expected = model.predict_proba(frame, as_new=as_new)[some]
        alone = [model.predict_proba(frame[[row]], as_new=as_new) for row in some]
        apart = float(np.abs(np.concatenate(alone) - expected).max())
        if not apart <= ROUNDING:
            complaints.append(f"{which} messages judged alone differ by {apart:.1e}")
    return complaints


def saves_and_loads(subject: Subject) -> list[str]:
    """A model that was saved and loaded says the very same, and its files hold no text."""
    complaints = []
    with TemporaryDirectory() as folder:
        path = subject.model.save(Path(folder) / "model")
        loaded = load_model(path)
        content = b"".join(file.read_bytes() for file in path.iterdir())
    for which, frame in (("known", subject.known), ("new", subject.new)):
        if not subject.model.opinions(frame).equals(loaded.opinions(frame)):
            complaints.append(f"opinions of {which} messages differ after loading")
    readable = sum(text.encode() in content for text in subject.known["text"])
    if readable:
        complaints.append(f"{readable} texts can be read in the saved model")
    return complaints


def forgets(subject: Subject) -> list[str]:
    """A forgotten message is gone, and what is said of the others hardly changes."""
    gone, others = subject.known[0], subject.known[1:]
    before = subject.model.predict_proba(others)
    with TemporaryDirectory() as folder:
        path = subject.model.save(Path(folder) / "model")
        forget(path, ids=gone["id"].to_list())
        model = load_model(path)
    complaints = _invalid(model, others)
    if model.remembered_rows(gone)[0] >= 0:
        complaints.append("the message is still remembered")
    # Rows that slipped by one would be judged like their neighbours.
    slipped = np.abs(np.roll(before, 1, axis=0) - before).mean()
    changed = np.abs(model.predict_proba(others) - before).mean()
    if changed > slipped / 2:
        complaints.append(f"probabilities of the other messages change by {changed:.1e} on average")
    return complaints


CHECKS: dict[str, Check] = {
    "fits": fits,
    "probabilities": gives_probabilities,
    "opinions": gives_opinions,
    "repeatable, test labels unseen": repeats_and_ignores_test_labels,
    "validation labels choose only": ignores_validation_labels,
    "unfriendly messages": survives_unfriendly_messages,
    "each message by itself": judges_alone,
    "saved and loaded": saves_and_loads,
    "forgets": forgets,
}


def _invalid(model: EventClassifier, frame: pl.DataFrame) -> list[str]:
    probability = model.predict_proba(frame)
    complaints = []
    if probability.shape != (len(frame), len(model.classes_)):
        complaints.append(f"probabilities have the shape {probability.shape}")
    if not ((probability >= 0) & (probability <= 1 + ROUNDING)).all():
        complaints.append("probabilities leave 0..1")
    if not np.abs(probability.sum(axis=1) - 1).max() <= ROUNDING:
        complaints.append("probabilities do not sum to 1")
    if not np.isin(model.predict(frame), model.classes_).all():
        complaints.append("an event was assigned that is not among the classes")
    return complaints


def _differences(one: EventClassifier, other: EventClassifier) -> list[str]:
    """Name the arrays of two models that are not the same bit for bit."""
    first, second = one.method_.state(), other.method_.state()
    return [
        name
        for name in sorted(first.keys() | second.keys())
        if name not in first or name not in second or not _same(first[name], second[name])
    ]


def _same(one: NDArray[Any], other: NDArray[Any]) -> bool:
    return one.shape == other.shape and one.tobytes() == other.tobytes()


@dataclass(frozen=True)
class CheckResult:
    """What one check found about one method; no complaint means that it passed."""

    method: str
    check: str
    complaints: tuple[str, ...]
    seconds: float

    @property
    def passed(self) -> bool:
        """Whether there is nothing to complain about."""
        return not self.complaints


def check_method(method: str, messages: pl.DataFrame, **parameters: Any) -> list[CheckResult]:
    """Run every check on ``method``, learning from labelled ``messages`` with a split.

    ``parameters`` are those of `EventClassifier`. Models are fitted once and shared by the checks.
    A check that breaks down counts as a complaint, so that the others still run.
    """
    subject = Subject(method, messages, **parameters)
    findings = []
    for name, check in CHECKS.items():
        started = time.perf_counter()
        try:
            complaints = check(subject)
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            complaints = [f"{type(error).__name__} in {where.name}: {error}"]
        seconds = time.perf_counter() - started
        findings.append(CheckResult(method, name, tuple(complaints), seconds))
    return findings
