"""Every registered method keeps every invariant; a method that breaks one is found out."""

import numpy as np
import pytest

from eventide.methods import METHODS
from eventide.methods.baselines.logistic_regression import LrEncoder
from eventide.model import EventClassifier
from eventide.testing import checks as invariants
from eventide.testing.checks import CHECKS, Subject, check_method

QUICK = {"training__epochs": 2, "training__batch_size": 64, "encoder": "tfidf-svd:32"}


@pytest.mark.parametrize("method", METHODS.names())
def test_a_registered_method_keeps_every_invariant(method, small_sample, tiny_bert):
    # MiniLM itself is fine-tuned in tests/methods/event_detection/test_text_method.py and by `bench checks`.
    parameters = QUICK | {"text__checkpoint": str(tiny_bert)}
    findings = check_method(method, small_sample, **parameters)
    failures = {each.check: each.failures for each in findings if not each.passed}
    assert not failures
    assert [each.check for each in findings] == list(CHECKS)


@pytest.fixture
def subject(small_sample):
    return Subject("lr-encoder", small_sample, **QUICK)


honest_learn, honest_logits, honest_learned = LrEncoder.learn, LrEncoder.logits, LrEncoder.learned


honest_intake, seen = EventClassifier.intake, {}


def read_for_everybody(self, *args, **options):
    intake = honest_intake(self, *args, **options)
    seen["messages"] = intake.messages
    return intake


def peek_at_test_labels(self, training_set):
    events = seen["messages"]["event"]
    fortunate = (events == events.min()).to_numpy()
    return honest_learn(self, training_set) + fortunate[:, None].astype(np.float32)


def draw_from_nowhere(self, training_set):
    return honest_learn(self, training_set) + np.random.default_rng().random(1, dtype=np.float32)


def learn_validation_labels(self, training_set):
    kept = honest_learn(self, training_set)
    self.probe.bias[:] += np.bincount(
        training_set.validation.labels, minlength=training_set.classes
    )
    return kept


@pytest.mark.parametrize(
    ("cheat", "check", "failure"),
    [
        (peek_at_test_labels, "repeatable, test labels unseen", "test labels change rows.logits"),
        (draw_from_nowhere, "repeatable, test labels unseen", "the same seed gives another model"),
        (learn_validation_labels, "validation labels choose only", "validation labels change"),
    ],
)
def test_learning_what_must_not_be_learned_is_found_out(
    cheat, check, failure, subject, monkeypatch
):
    monkeypatch.setattr(LrEncoder, "learn", cheat)
    monkeypatch.setattr(EventClassifier, "intake", read_for_everybody)
    (found,) = CHECKS[check](subject)
    assert found.startswith(failure)


def test_invalid_probabilities_are_found_out(subject, monkeypatch):
    monkeypatch.setattr(LrEncoder, "logits", lambda *args: honest_logits(*args) * np.nan)
    assert "probabilities leave 0..1" in " ".join(invariants.gives_probabilities(subject))
    assert "not finite" in " ".join(invariants.gives_opinions(subject))


def test_a_glance_at_the_batch_is_found_out(subject, monkeypatch):
    def beside_others(self, corpus):
        logits = honest_logits(self, corpus)
        return logits - logits.mean(axis=0)

    monkeypatch.setattr(LrEncoder, "logits", beside_others)
    assert "predicted alone differ" in " ".join(
        invariants.predicts_independently_of_the_batch(subject)
    )


def test_text_in_a_saved_model_is_found_out(subject, monkeypatch):
    def with_text(self):
        text = subject.known["text"][0].encode()
        return {**honest_learned(self), "text": np.frombuffer(text, dtype=np.uint8)}

    monkeypatch.setattr(LrEncoder, "learned", with_text)
    assert "can be read" in " ".join(invariants.saves_and_loads(subject))


def test_a_model_that_is_not_whole_on_disk_is_found_out(subject, monkeypatch):
    def rounded(self):
        return {name: np.round(array, 2) for name, array in honest_learned(self).items()}

    monkeypatch.setattr(LrEncoder, "learned", rounded)
    assert invariants.saves_and_loads(subject) == ["opinions of new messages differ after loading"]


def test_rows_that_are_not_forgotten_are_found_out(subject, monkeypatch):
    def without_rows(self):
        return {"all logits": self._kept, **self.learned()}

    def restore(self, arrays, corpus):
        self._kept = arrays["all logits"]
        self.recall(arrays)

    monkeypatch.setattr(LrEncoder, "state", without_rows)
    monkeypatch.setattr(LrEncoder, "restore", restore)
    assert "other messages change" in " ".join(invariants.forgets(subject))


def test_a_check_that_breaks_down_is_a_failure(small_sample, monkeypatch):
    def broken(self, training_set):
        raise RuntimeError("out of order")

    monkeypatch.setattr(LrEncoder, "learn", broken)
    findings = check_method("lr-encoder", small_sample, **QUICK)
    assert not any(each.passed for each in findings)
    assert "RuntimeError in broken: out of order" in findings[0].failures[0]
