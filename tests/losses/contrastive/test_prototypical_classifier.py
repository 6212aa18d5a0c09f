"""The classifier's own vectors as prototypes: the boundary that is shaped is the one that decides."""

from __future__ import annotations

import pytest
import torch

from eventide import EventClassifier
from eventide.errors import BadSetting

QUICK = {
    "method": "ucl",
    "encoder": "tfidf-svd:8",
    "training__epochs": 2,
    "network__evidence": "exp",
}


def test_logits_are_the_cosines_that_the_loss_reads(small_sample):
    model = EventClassifier(
        **QUICK, network__classifier="prototypes", loss__prototypes="classifier"
    ).fit(small_sample)
    runner = model.method_.runner
    outputs = runner.evaluate(model.inference.match(model.intake(small_sample).messages).rows[:5])
    contrast = model.method_.objective.terms["contrastive"].loss
    for view, each in outputs.items():
        cosines = contrast.prototypes.similarities(view, each)
        torch.testing.assert_close(each.logits, 30.0 * cosines, rtol=1e-4, atol=1e-4)
    assert not any("hidden" in name for name in model.method_.state() if ".heads." in name)


def test_other_classifiers_have_no_prototypes(small_sample):
    with pytest.raises(BadSetting, match="classifier"):
        EventClassifier(**QUICK, loss__prototypes="classifier").fit(small_sample)
