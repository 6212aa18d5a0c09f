"""What the pool of experts tells of messages that a method has predicted."""

from __future__ import annotations

from dataclasses import dataclass

from eventide.corpus.corpus import Corpus, Ints
from eventide.corpus.training_set import TrainingSet
from eventide.methods.method import Method, Prediction
from eventide.model.inference import Advice
from eventide.model.novelty_scores import (
    NoveltyModel,
    evidence_of_messages,
    pooled_prediction,
)
from eventide.model.validation_predictions import ValidationPredictions
from eventide.novelty.experts import EXPERTS, expert_scores
from eventide.novelty.reference import Reference
from eventide.opinions.log_pool import Floats, cross_pooled


@dataclass(frozen=True)
class Adviser:
    """Lets the pool speak for messages that a method has predicted."""

    novelty: NoveltyModel
    reference: Reference

    def __call__(self, said: Prediction, corpus: Corpus) -> Prediction:
        """Return what the pool says of the messages of ``corpus``."""
        return self.novelty.pooled(said, self.novelty.evidence(said, corpus, self.reference))

    @property
    def wrong_labels(self) -> float:
        """The share of the labels that taught the pool which it takes for wrong."""
        return 0.0 if self.novelty.pool is None else self.novelty.pool.wrong_labels

    def notes(self, validation: ValidationPredictions) -> list[str]:
        """Say what the pool is, and what it thinks of the labels, for a person."""
        messages = len(validation)
        found = [self._note(messages)]
        if self.wrong_labels:
            found.append(
                f"about {self.wrong_labels:.0%} of the validation labels seem wrong; the"
                f" {int(validation.suspect.sum()):,} of {messages:,} that most speaks against are"
                " left out of calibration and sets (eventide labels shows labels to look at)"
            )
        return found

    def _note(self, messages: int) -> str:
        assert self.novelty.pool is not None
        weights = zip(EXPERTS, self.novelty.pool.weights, strict=True)
        told = ", ".join(f"{name} {weight:.2f}" for name, weight in weights)
        return (
            f"a pool of experts decides events; weights from {messages:,} validation messages:"
            f" {told}"
        )

    def contributions(self, said: Prediction, corpus: Corpus) -> Floats:
        """Return what each expert adds to the logit of each class [n, C, experts]."""
        assert self.novelty.pool is not None
        evidence = self.novelty.evidence(said, corpus, self.reference)
        found: Floats = expert_scores(evidence) * self.novelty.pool.weights
        return found

    def of_others(self, labels: Ints) -> Advice:
        """Return what tells validation messages with these labels [n] what the pool would say.

        Each is told by a pool that was fitted without a fifth of them, itself among these.
        """

        def advise(said: Prediction, corpus: Corpus) -> Prediction:
            evidence = evidence_of_messages(said, corpus, self.reference, self.novelty.probe)
            probability = cross_pooled(expert_scores(evidence), labels, self.wrong_labels)
            return said if probability is None else pooled_prediction(said, probability)

        return advise


def fit_adviser(method: Method, training_set: TrainingSet) -> Adviser | None:
    """Fit a pool of experts on the validation messages; None where they are too few."""
    novelty = NoveltyModel.fit(training_set, method, experts=True)
    if novelty is None or novelty.pool is None:
        return None
    reference = Reference(training_set.corpus, training_set.labels, training_set.classes)
    return Adviser(novelty, reference)
