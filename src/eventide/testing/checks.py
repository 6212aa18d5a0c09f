"""Checks that every registered method must pass; ``check_method`` runs them."""

from __future__ import annotations

import pickle
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
    """One method on labelled ``messages`` with a split; every tenth is kept as a new message."""

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
        """A model trained with the test messages in the graph, as in the paper."""
        return self.fitted(self.known)

    @cached_property
    def twin(self) -> EventClassifier:
        """The same, but every test message is labelled with another event."""
        return self.fitted(relabelled(self.known, "test"))

    @cached_property
    def difficult_model(self) -> EventClassifier:
        """One epoch on difficult messages, without validation and test messages in the graph."""
        return self.fitted(self.difficult, protocol="inductive", training__epochs=1)

    @cached_property
    def difficult_twin(self) -> EventClassifier:
        """The same, but every validation message is labelled with another event."""
        other = relabelled(self.difficult, "val")
        return self.fitted(other, protocol="inductive", training__epochs=1)

    @cached_property
    def difficult(self) -> pl.DataFrame:
        """Known messages with an event of one message, unlabelled rows, a text without words."""
        training = np.flatnonzero((self.known["split"] == "train").to_numpy())
        lone, wordless = (pl.int_range(pl.len()) == int(row) for row in training[:2])
        unlabelled = (pl.int_range(pl.len()) % 7 == 6) & ~lone
        return self.known.with_columns(
            event=pl.when(lone).then(pl.lit(ONE_OF_A_KIND)).when(~unlabelled).then(pl.col("event")),
            text=pl.when(wordless).then(pl.lit("\N{FIRE}\N{FIRE}")).otherwise(pl.col("text")),
            user=pl.when(~wordless).then(pl.col("user")),
        )


def relabelled(messages: pl.DataFrame, part: str) -> pl.DataFrame:
    """Give every labelled message of one split the next event in alphabetical order.

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
    """Training ends with finite figures and a best epoch."""
    history, best = subject.model.history_, subject.model.best_epoch_
    failures = [
        f"{name} of epoch {row['epoch']:g} is {value}"
        for row in history
        for name, value in row.items()
        if not np.isfinite(value)
    ]
    if not 1 <= best <= len(history):
        failures.append(f"the best epoch is {best} of {len(history)}")
    return failures


def gives_probabilities(subject: Subject) -> list[str]:
    """Probabilities of known and new messages are valid, and the event is a class of the model."""
    return [
        f"{which} messages: {failure}"
        for which, frame in (("known", subject.known), ("new", subject.new))
        for failure in _invalid(subject.model, frame)
    ]


def gives_opinions(subject: Subject) -> list[str]:
    """There is one opinion per message, in order, finite, with its shares in 0..1."""
    frame = pl.concat([subject.new, subject.known])
    opinions = subject.model.opinions(frame)
    failures = []
    if opinions["id"].to_list() != frame["id"].to_list():
        failures.append("the rows are not those of the messages, in their order")
    numbers = opinions.select(pl.selectors.numeric())
    failures += [
        f"the column {name} has values that are not finite"
        for name in numbers.columns
        if not np.isfinite(numbers[name].to_numpy()).all()
    ]
    for name in ("probability", "doubt", "vacuity", "dissonance", "conflict"):
        if not opinions[name].is_between(0, 1 + ROUNDING).all():
            failures.append(f"{name} leaves 0..1")
    if not opinions["uncertainty"].equals(opinions["vacuity"]):
        failures.append("uncertainty is not vacuity")
    if not np.allclose(opinions["doubt"], 1 - opinions["probability"], atol=ROUNDING):
        failures.append("doubt is not 1 - probability")
    return failures


def repeats_and_ignores_test_labels(subject: Subject) -> list[str]:
    """The same seed gives the same model bit for bit, whatever the labels of test messages."""
    differing = _differences(subject.model, subject.twin)
    if not differing:
        return []
    if _differences(subject.model, subject.fitted(subject.known)):
        return [f"the same seed gives another model: {', '.join(differing)} differ"]
    return [f"test labels change {', '.join(differing)}"]


def ignores_validation_labels(subject: Subject) -> list[str]:
    """Validation labels only choose the epoch: with a single epoch they change nothing."""
    differing = _differences(subject.difficult_model, subject.difficult_twin)
    return [f"validation labels change {', '.join(differing)}"] if differing else []


def handles_difficult_messages(subject: Subject) -> list[str]:
    """An event of one message, unlabelled rows and a text without words are handled."""
    failures = _invalid(subject.difficult_model, subject.difficult)
    if ONE_OF_A_KIND not in subject.difficult_model.classes_:
        failures.append("the event of one message is not among the classes")
    return failures


def predicts_independently_of_the_batch(subject: Subject) -> list[str]:
    """The prediction of a message does not depend on the other messages of the batch."""
    failures = []
    for which, model, frame, as_new in (
        ("known", subject.model, subject.known, False),
        ("new", subject.model, subject.new, False),
        ("new (inductive)", subject.difficult_model, subject.known, True),
    ):
        some = np.arange(len(frame))[:: -max(len(frame) // 5, 1)]
        expected = model.predict_proba(frame, as_new=as_new)[some]
        alone = [model.predict_proba(frame[[row]], as_new=as_new) for row in some]
        apart = float(np.abs(np.concatenate(alone) - expected).max())
        if not apart <= ROUNDING:
            failures.append(f"{which} messages predicted alone differ by {apart:.1e}")
    return failures


def saves_and_loads(subject: Subject) -> list[str]:
    """A saved and loaded model gives the same opinions, and its files hold no text."""
    failures = []
    with TemporaryDirectory() as folder:
        path = subject.model.save(Path(folder) / "model")
        loaded = load_model(path)
        content = b"".join(file.read_bytes() for file in path.iterdir())
    for which, frame in (("known", subject.known), ("new", subject.new)):
        if not subject.model.opinions(frame).equals(loaded.opinions(frame)):
            failures.append(f"opinions of {which} messages differ after loading")
    readable = sum(text.encode() in content for text in subject.known["text"])
    if readable:
        failures.append(f"{readable} texts can be read in the saved model")
    return failures


def can_be_copied(subject: Subject) -> list[str]:
    """A pickled model, as scikit-learn's workers get it, gives the same opinions."""
    copied = pickle.loads(pickle.dumps(subject.model))
    same = subject.model.opinions(subject.new).equals(copied.opinions(subject.new))
    return [] if same else ["opinions of new messages differ after copying"]


def forgets(subject: Subject) -> list[str]:
    """A forgotten message is gone, and predictions of the others hardly change."""
    gone, others = subject.known[0], subject.known[1:]
    before = subject.model.predict_proba(others)
    with TemporaryDirectory() as folder:
        path = subject.model.save(Path(folder) / "model")
        forget(path, ids=gone["id"].to_list())
        model = load_model(path)
    failures = _invalid(model, others)
    if model.remembered_rows(gone)[0] >= 0:
        failures.append("the message is still remembered")
    # If rows were shifted by one, predictions would be those of the next message.
    slipped = np.abs(np.roll(before, 1, axis=0) - before).mean()
    changed = np.abs(model.predict_proba(others) - before).mean()
    if changed > slipped / 2:
        failures.append(f"probabilities of the other messages change by {changed:.1e} on average")
    return failures


CHECKS: dict[str, Check] = {
    "fits": fits,
    "probabilities": gives_probabilities,
    "opinions": gives_opinions,
    "repeatable, test labels unseen": repeats_and_ignores_test_labels,
    "validation labels choose only": ignores_validation_labels,
    "difficult messages": handles_difficult_messages,
    "independent of the batch": predicts_independently_of_the_batch,
    "saved and loaded": saves_and_loads,
    "copied": can_be_copied,
    "forgets": forgets,
}


def _invalid(model: EventClassifier, frame: pl.DataFrame) -> list[str]:
    probability = model.predict_proba(frame)
    failures = []
    if probability.shape != (len(frame), len(model.classes_)):
        failures.append(f"probabilities have the shape {probability.shape}")
    if not ((probability >= 0) & (probability <= 1 + ROUNDING)).all():
        failures.append("probabilities leave 0..1")
    if not np.abs(probability.sum(axis=1) - 1).max() <= ROUNDING:
        failures.append("probabilities do not sum to 1")
    if not np.isin(model.predict(frame), model.classes_).all():
        failures.append("an event was assigned that is not among the classes")
    return failures


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
    """The result of one check of one method; it passed if there are no failures."""

    method: str
    check: str
    failures: tuple[str, ...]
    seconds: float

    @property
    def passed(self) -> bool:
        """Whether there are no failures."""
        return not self.failures


def check_method(method: str, messages: pl.DataFrame, **parameters: Any) -> list[CheckResult]:
    """Run every check on ``method``, trained on labelled ``messages`` with a split.

    ``parameters`` are those of `EventClassifier`. Models are fitted once and shared by the checks.
    An exception in a check counts as a failure, so that the other checks still run.
    """
    subject = Subject(method, messages, **parameters)
    findings = []
    for name, check in CHECKS.items():
        started = time.perf_counter()
        try:
            failures = check(subject)
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            failures = [f"{type(error).__name__} in {where.name}: {error}"]
        seconds = time.perf_counter() - started
        findings.append(CheckResult(method, name, tuple(failures), seconds))
    return findings
