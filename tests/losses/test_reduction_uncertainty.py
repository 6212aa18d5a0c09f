"""Weights of the error by class uncertainty."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from eventide import EventClassifier
from eventide.errors import BadSetting
from eventide.losses.class_state import ClassStatistics
from eventide.losses.loss_inputs import LossInputs
from eventide.losses.reduction import error_reduction, uncertainty_weights
from eventide.losses.settings import LossSettings

COUNTS = torch.tensor([6, 3, 1])
UNCERTAINTY = torch.tensor([0.1, 0.4, 0.8], dtype=torch.float64)


@given(st.floats(0.1, 3.0))
def test_a_training_message_weighs_one_on_average(power):
    weights = uncertainty_weights(COUNTS, UNCERTAINTY, power)
    total = sum(float(weight) * int(count) for weight, count in zip(weights, COUNTS, strict=True))
    assert total == pytest.approx(int(COUNTS.sum()))
    for one, other in ((0, 1), (1, 2)):
        ratio = (UNCERTAINTY[other] / UNCERTAINTY[one]) ** power
        assert float(weights[other] / weights[one]) == pytest.approx(float(ratio))


def inputs() -> LossInputs:
    statistics = replace(ClassStatistics.initial(COUNTS), uncertainty=UNCERTAINTY)
    return LossInputs({}, None, torch.tensor([0, 2, 1]), statistics, 1)  # type: ignore[arg-type]


@pytest.mark.parametrize("balanced", [False, True])
def test_the_reduction_in_plain_loops(balanced):
    settings = LossSettings(uncertainty_weights=0.5, class_balanced=balanced)
    values, batch = torch.tensor([1.0, 2.0, 4.0], dtype=torch.float64), inputs()
    weights = [float(each) ** 0.5 for each in UNCERTAINTY]
    mean = sum(w * int(n) for w, n in zip(weights, COUNTS, strict=True)) / int(COUNTS.sum())
    scaled = [w / mean for w in weights]
    if balanced:
        raw = [(1 - 0.9999) / (1 - 0.9999 ** int(n)) for n in COUNTS]
        scaled = [w * each * 3 / sum(raw) for w, each in zip(scaled, raw, strict=True)]
    labels = batch.labels.tolist()
    expected = sum(scaled[y] * float(v) for y, v in zip(labels, values, strict=True)) / 3
    assert float(error_reduction(settings)(values, batch)) == pytest.approx(expected)


@pytest.mark.parametrize("name", ["loss__uncertainty_weights", "loss__prior_adjustment"])
def test_methods_without_opinions_refuse(name, small_sample):
    model = EventClassifier(method="ce", encoder="tfidf-svd:8", training__epochs=1, **{name: 1.0})
    with pytest.raises(BadSetting, match=name.partition("__")[2]):
        model.fit(small_sample)
