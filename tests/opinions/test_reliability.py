"""A view that is wrong on validation messages is trusted less; nothing else changes."""

from __future__ import annotations

import torch

from eventide import EventClassifier, load
from eventide.opinions.fusion import fuse
from eventide.opinions.opinion import Opinion
from eventide.opinions.reliability import ReliableFusion

LABELS = torch.tensor([0, 1, 2] * 8)
RIGHT = Opinion.from_evidence(torch.nn.functional.one_hot(LABELS, 3) * 6.0)
SHIFTED = Opinion.from_evidence(torch.nn.functional.one_hot((LABELS + 1) % 3, 3) * 9.0)


def test_before_fitting_it_is_dempster():
    torch.testing.assert_close(
        ReliableFusion()([RIGHT, SHIFTED]).belief, fuse([RIGHT, SHIFTED]).belief
    )


def test_a_view_that_is_wrong_is_not_trusted():
    rule = ReliableFusion()
    assert (rule([RIGHT, SHIFTED]).predicted != LABELS).any()
    rule.fit([RIGHT, SHIFTED], LABELS)
    first, second = rule.reliability.tolist()
    assert first == 1
    assert second <= 0.3
    assert (rule([RIGHT, SHIFTED]).predicted == LABELS).all()


def test_the_reliabilities_are_saved_with_the_model(small_sample, tmp_path):
    model = EventClassifier(encoder="tfidf-svd:8", training__epochs=2, loss__fusion="reliable")
    model.fit(small_sample)
    kept = model.method_.objective.reader.rule.reliability
    assert len(kept) == 3
    again = load(model.save(tmp_path / "model"))
    assert torch.equal(again.method_.objective.reader.rule.reliability, kept)
    asked = small_sample.head(20)
    assert (again.predict_proba(asked) == model.predict_proba(asked)).all()
