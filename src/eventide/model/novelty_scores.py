"""What a model knows of novelty: the detector, the probe and the labelled messages it reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eventide.arrays import unit_rows
from eventide.corpus.corpus import Corpus, Ints
from eventide.corpus.training_set import TrainingSet
from eventide.errors import BadSetting
from eventide.methods.baselines.logistic_regression import LinearProbe
from eventide.methods.method import Method, Prediction, together
from eventide.novelty.detector import FALSE_ALARMS, NoveltyDetector
from eventide.novelty.experts import EXPERTS, expert_scores
from eventide.novelty.history import MessageRecord, StreamHistory
from eventide.novelty.off_topic import OffTopic, nearest_mean
from eventide.novelty.reference import MOST, Reference
from eventide.novelty.signals import SIGNALS, MessageEvidence, signal_table
from eventide.novelty.verdicts import Verdicts, judge_messages, without_novelty
from eventide.opinions.log_pool import Floats, LogarithmicPool, can_cross_pool, softmax

if TYPE_CHECKING:
    from eventide.model.classifier import EventClassifier
    from eventide.model.inference import MemoryMatch

ARRAYS = "novelty"
"""The file of the detector in a saved model; models of older releases have none."""
PROBE, POOL, WRONG, DISMISSED = "probe.", "experts", "experts.wrong_labels", "dismissed"
ABSENT = -100.0
"""Logit of a class that no labelled message has."""


@dataclass(frozen=True)
class NoveltyModel:
    """The fitted detector and the probe; of a model that was updated, its stream's history too.

    With a ``pool`` of experts, the network first, the events of messages are the pool's. Validation
    messages teach it, and with a history those that were labelled after they had come.
    """

    detector: NoveltyDetector
    probe: LinearProbe
    pool: LogarithmicPool | None = None
    history: StreamHistory | None = None
    off_topic: OffTopic | None = None

    @classmethod
    def fit(
        cls,
        training_set: TrainingSet,
        method: Method,
        *,
        experts: bool = False,
        start: LinearProbe | None = None,
    ) -> Self | None:
        """Learn from a fitted method's predictions of the validation messages.

        With ``experts`` a pool of them is learned too, where the messages are enough to calibrate
        it by cross-fitting; some of their labels may be wrong. The probe's fit may ``start`` at an
        older one.
        """
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
        probe = fit_probe(training_set.corpus, training_set.labels, training_set.classes, start)
        evidence = evidence_of_messages(prediction, corpus, reference, probe)
        detector = NoveltyDetector.fit(evidence, validation.labels)
        if detector is None:
            return None
        if not experts or not can_cross_pool(len(validation)):
            return cls(detector, probe)
        pool = LogarithmicPool.fit_in_doubt(expert_scores(evidence), validation.labels)
        return cls(detector, probe, pool)

    def adapted(self, history: StreamHistory | None) -> Self:
        """Learn from messages that were labelled after they had come: detector and pool."""
        if history is None:
            return self
        known = history.known
        pool = LogarithmicPool.fit(history.labelled.scores[known], history.classes[known])
        pool = pool or self.pool
        detector = self.detector.adapted(history, pool)
        return replace(self, detector=detector, pool=pool, history=history)

    def evidence(self, said: Prediction, corpus: Corpus, reference: Reference) -> MessageEvidence:
        """Collect what the signals read of messages that were predicted."""
        found = evidence_of_messages(said, corpus, reference, self.probe)
        if self.pool is None:
            return found
        return replace(found, pooled=self.pool.logits(expert_scores(found)))

    def pooled(self, said: Prediction, evidence: MessageEvidence) -> Prediction:
        """Let the experts speak together, where there is a pool; beliefs stay the network's."""
        if evidence.pooled is None:
            return said
        return pooled_prediction(said, softmax(evidence.pooled))

    def dismissing(self, features: NDArray[np.float32]) -> Self:
        """Learn that messages with these vectors [n, width] are off-topic."""
        known = self.off_topic
        return replace(
            self, off_topic=OffTopic.of(features) if known is None else known.joined(features)
        )

    def dismissed(self, evidence: MessageEvidence, corpus: Corpus) -> NDArray[np.bool_] | None:
        """Say which messages are like those that were dismissed."""
        if self.off_topic is None:
            return None
        nearest = evidence.comparison.nearest.reshape(len(evidence), -1)
        return self.off_topic.like(corpus.features, nearest_mean(nearest))

    def state(self) -> dict[str, NDArray[Any]]:
        """Return arrays that ``from_state`` reads back."""
        probe = {"weights": self.probe.weights, "bias": self.probe.bias}
        found = self.detector.state() | {f"{PROBE}{name}": each for name, each in probe.items()}
        if self.history is not None:
            found |= self.history.state()
        if self.off_topic is not None:
            found |= {DISMISSED: self.off_topic.vectors}
        if self.pool is None:
            return found
        return found | {POOL: self.pool.weights, WRONG: np.array([self.pool.wrong_labels])}

    @classmethod
    def from_state(cls, arrays: Mapping[str, NDArray[Any]] | None) -> Self | None:
        """Read what ``state`` gave; None for a model that has no detector."""
        if arrays is None:
            return None
        probe = LinearProbe(arrays[f"{PROBE}weights"], arrays[f"{PROBE}bias"])
        # Models of earlier versions believed every label.
        wrong = float(arrays[WRONG][0]) if WRONG in arrays else 0.0
        pool = LogarithmicPool(arrays[POOL], wrong) if POOL in arrays else None
        if pool is not None and pool.weights.shape != (len(EXPERTS),):
            raise ValueError("the pool is not of this eventide's experts")
        history = StreamHistory.from_state(arrays)
        off_topic = OffTopic.of(arrays[DISMISSED]) if DISMISSED in arrays else None
        return cls(NoveltyDetector.from_state(arrays), probe, pool, history, off_topic)


def pooled_prediction(said: Prediction, probability: Floats) -> Prediction:
    """Return a prediction with the events of a pool's probabilities [n, C]."""
    return replace(
        said,
        probability=probability,
        predicted=probability.argmax(axis=1),
        undecided=np.zeros_like(said.undecided),
    )


def fit_probe(
    corpus: Corpus, labels: Ints, classes: int, start: LinearProbe | None = None
) -> LinearProbe:
    """Fit logistic regression on the unit vectors of labelled messages, at most `MOST` of them.

    A class without any (its messages have left the memory) never wins. The fit may ``start`` at
    the probe of before an update.
    """
    step = max(1, -(-int((labels >= 0).sum()) // MOST))
    present = np.unique(labels[labels >= 0])
    rows = np.concatenate([np.flatnonzero(labels == each)[::step] for each in present])
    near = None if start is None or len(present) < classes else start
    found = LinearProbe.fit(unit_rows(corpus.features[rows]), labels[rows], start=near)
    if len(present) == classes:
        return found
    weights, bias = np.zeros((classes, found.weights.shape[1])), np.full(classes, ABSENT)
    weights[present], bias[present] = found.weights, found.bias
    return LinearProbe(weights, bias)


def evidence_of_messages(
    prediction: Prediction, corpus: Corpus, reference: Reference, probe: LinearProbe
) -> MessageEvidence:
    """Collect what the signals read of messages that were predicted."""
    vectors = unit_rows(corpus.features)
    logits = probe.logits(vectors).astype(np.float64)
    return MessageEvidence(prediction, reference.compare(corpus, vectors), logits)


def tested(
    model: EventClassifier, frame: pl.DataFrame, match: MemoryMatch, truth: Ints, *, classes: int
) -> StreamHistory | None:
    """Return the model's history with messages whose labels it is about to learn.

    ``truth`` [n] are classes of ``classes``, those that are new to the model last; -1 without any.
    """
    known = model.novelty_
    if known is None:
        return None
    came = MessageRecord(
        np.zeros((len(frame), len(SIGNALS))),
        np.zeros((len(frame), len(model.classes_), len(EXPERTS)), dtype=np.float32),
    )
    for rows, said, corpus in model.inference.parts(frame, match):
        evidence = known.evidence(said, corpus, model.reference)
        came.signals[rows], came.scores[rows] = signal_table(evidence), expert_scores(evidence)
    history = known.history or StreamHistory.none(classes)
    return history.joined(came, truth, classes=classes)


def judged(
    model: EventClassifier,
    parts: list[tuple[Ints, Prediction, Corpus]],
    false_alarms: float | None = None,
) -> tuple[Prediction, Verdicts]:
    """Return calibrated predictions, and whether each message is known, to be reviewed, or new.

    ``parts`` are what the method says of messages, and these as the memory has them or as they were
    featurised.
    """
    if false_alarms is not None and not 0 < false_alarms < 1:
        raise BadSetting(
            f"false_alarms cannot be {false_alarms!r}",
            next_step="give a share of messages above 0 and below 1, such as 0.05",
        )
    known, rate = model.novelty_, FALSE_ALARMS if false_alarms is None else false_alarms
    if known is None:
        said = together([(rows, said) for rows, said, _ in parts])
        prediction = said.calibrated(model.calibration_)
        return prediction, without_novelty(prediction.doubt)
    evidence = [known.evidence(said, corpus, model.reference) for _, said, corpus in parts]
    pairs = list(zip(parts, evidence, strict=True))
    said = together([(rows, known.pooled(said, own)) for (rows, said, _), own in pairs])
    prediction = said.calibrated(model.calibration_)
    verdict = np.empty(len(prediction.predicted), dtype="<U6")
    novelty = np.empty(len(verdict))
    reason = [""] * len(verdict)
    for (rows, _, corpus), own in pairs:
        found = judge_messages(
            known.detector,
            own,
            prediction.doubt[rows],
            false_alarms=rate,
            dismissed=known.dismissed(own, corpus),
        )
        verdict[rows], novelty[rows] = found.verdict, found.novelty
        for row, words in zip(rows.tolist(), found.reason, strict=True):
            reason[row] = words
    return prediction, Verdicts(verdict, novelty, reason)


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
