"""What must hold for every method: each check returns its complaints, none if all is well."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eventide.checks.subject import ONE_OF_A_KIND, Subject
from eventide.classifier import EventClassifier, load_model
from eventide.classifier.forgetting import forget

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
