"""What a model knows of novelty: the detector, the probe and the labelled messages it reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eventide.arrays import unit_rows
from eventide.corpus.corpus import Corpus, Ints
from eventide.corpus.training_set import TrainingSet
from eventide.errors import BadSetting
from eventide.methods.baselines.logistic_regression import LinearProbe
from eventide.methods.method import Method, Prediction
from eventide.novelty.detector import FALSE_ALARMS, NoveltyDetector
from eventide.novelty.reference import MOST, Reference
from eventide.novelty.signals import Evidence
from eventide.novelty.verdicts import Verdicts, judge_messages, without_novelty

if TYPE_CHECKING:
    from eventide.model.classifier import EventClassifier

ARRAYS = "novelty"
"""The file of the detector in a saved model; models of older releases have none."""
PROBE = "probe."


@dataclass(frozen=True)
class NoveltyModel:
    """The fitted detector and the probe, both saved with a model."""

    detector: NoveltyDetector
    probe: LinearProbe

    @classmethod
    def fit(cls, training_set: TrainingSet, method: Method) -> Self | None:
        """Learn from a fitted method's predictions of the validation messages."""
        validation = training_set.validation
        if not len(validation):
            return None
        rows = training_set.training_rows
        if validation.corpus is not None:
            corpus, prediction = validation.corpus, method.predict_new(validation.corpus)
        else:
            held = validation.rows if validation.rows is not None else rows[:0]
            corpus, prediction = training_set.corpus.take(held), method.predict(held)
        reference = Reference(training_set.corpus, training_set.labels, training_set.classes)
        probe = fit_probe(training_set.corpus, training_set.labels)
        evidence = evidence_of_messages(prediction, corpus, reference, probe)
        detector = NoveltyDetector.fit(evidence, validation.labels)
        return None if detector is None else cls(detector, probe)

    def state(self) -> dict[str, NDArray[Any]]:
        """Return arrays that ``from_state`` reads back."""
        probe = {"weights": self.probe.weights, "bias": self.probe.bias}
        return self.detector.state() | {f"{PROBE}{name}": each for name, each in probe.items()}

    @classmethod
    def from_state(cls, arrays: Mapping[str, NDArray[Any]] | None) -> Self | None:
        """Read what ``state`` gave; None for a model that has no detector."""
        if arrays is None:
            return None
        probe = LinearProbe(arrays[f"{PROBE}weights"], arrays[f"{PROBE}bias"])
        return cls(NoveltyDetector.from_state(arrays), probe)


def fit_probe(corpus: Corpus, labels: Ints) -> LinearProbe:
    """Fit logistic regression on the unit vectors of labelled messages, at most `MOST` of them."""
    step = max(1, -(-int((labels >= 0).sum()) // MOST))
    classes = np.unique(labels[labels >= 0])
    rows = np.concatenate([np.flatnonzero(labels == each)[::step] for each in classes])
    return LinearProbe.fit(unit_rows(corpus.features[rows]), labels[rows])


def evidence_of_messages(
    prediction: Prediction, corpus: Corpus, reference: Reference, probe: LinearProbe
) -> Evidence:
    """Collect what the signals read of messages that were predicted."""
    logits = probe.logits(unit_rows(corpus.features)).astype(np.float64)
    return Evidence(prediction, reference.compare(corpus), logits)


def verdicts_of(
    model: EventClassifier,
    prediction: Prediction,
    parts: list[tuple[Ints, Prediction, Corpus]],
    false_alarms: float | None = None,
) -> Verdicts:
    """Say of predicted messages whether each is known, to be reviewed, or new.

    ``parts`` are the same messages as the memory has them or as they were featurised.
    """
    if false_alarms is not None and not 0 < false_alarms < 1:
        raise BadSetting(
            f"false_alarms cannot be {false_alarms!r}",
            next_step="give a share of messages above 0 and below 1, such as 0.05",
        )
    known = model.novelty_
    if known is None:
        return without_novelty(prediction.doubt)
    verdict = np.empty(len(prediction.predicted), dtype="<U6")
    novelty = np.empty(len(verdict))
    reason = [""] * len(verdict)
    for rows, said, corpus in parts:
        evidence = evidence_of_messages(said, corpus, model.reference, known.probe)
        rate = FALSE_ALARMS if false_alarms is None else false_alarms
        found = judge_messages(known.detector, evidence, prediction.doubt[rows], false_alarms=rate)
        verdict[rows], novelty[rows] = found.verdict, found.novelty
        for row, words in zip(rows.tolist(), found.reason, strict=True):
            reason[row] = words
    return Verdicts(verdict, novelty, reason)


def with_verdicts(frame: pl.DataFrame, verdicts: Verdicts) -> pl.DataFrame:
    """Put verdict, novelty and reason behind the doubt of each opinion.

    >>> opinions = pl.DataFrame({"id": ["a"], "doubt": [0.5], "belief": [0.4]})
    >>> with_verdicts(opinions, without_novelty(opinions["doubt"].to_numpy())).columns
    ['id', 'doubt', 'verdict', 'novelty', 'reason', 'belief']
    """
    place = frame.columns.index("doubt") + 1
    added = [
        pl.Series("verdict", verdicts.verdict.tolist(), dtype=pl.String),
        pl.Series("novelty", verdicts.novelty, dtype=pl.Float64, nan_to_null=True),
        pl.Series("reason", verdicts.reason, dtype=pl.String),
    ]
    columns = frame.get_columns()
    return pl.DataFrame([*columns[:place], *added, *columns[place:]])
