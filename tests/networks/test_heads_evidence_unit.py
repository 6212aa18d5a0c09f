"""Evidence in units of C: how sure agreeing views can be, and how fast learning starts, for any C."""

from __future__ import annotations

import pytest
import torch

from eventide.losses.evidential import evidential_error
from eventide.networks.heads import evidence_of
from eventide.networks.settings import NetworkSettings
from eventide.opinions.fusion import fuse
from eventide.opinions.opinion import Opinion

UNITS = NetworkSettings(evidence="exp", evidence_unit="classes")
CLASSES = (7, 28, 100, 500)


def opinion(logits: torch.Tensor) -> Opinion:
    return Opinion.from_evidence(evidence_of(logits, UNITS))


def informative(classes: int, size: float = 8.0) -> Opinion:
    """One view that says class 0 as firmly as a head that has learned does."""
    logits = torch.full((1, classes), -size)
    logits[0, 0] = size
    return opinion(logits)


@pytest.mark.parametrize("classes", CLASSES)
def test_agreeing_views_can_be_sure_and_one_view_nearly(classes):
    view = informative(classes)
    assert view.probability[0, 0] > 0.9
    assert fuse([view] * 3).probability[0, 0] > 0.99


@pytest.mark.parametrize("classes", CLASSES)
def test_the_first_gradient_does_not_fall_with_the_number_of_classes(classes):
    def pull(number: int) -> float:
        logits = torch.zeros(1, number, requires_grad=True)
        fused = fuse([opinion(logits)] * 3)
        evidential_error(fused, torch.tensor([0])).sum().backward()
        return float(-logits.grad[0, 0])

    assert pull(classes) >= 0.95 * pull(7)


def test_as_printed_the_same_logits_are_less_sure_of_more_classes():
    """What the unit is for: bounded evidence that does not grow with C loses against C priors."""
    plain = NetworkSettings(evidence="exp", logit_bound=5)
    logits = torch.full((1, 500), -50.0)
    logits[0, 0] = 50.0
    one = Opinion.from_evidence(evidence_of(logits, plain))
    assert one.probability[0, 0] < 0.3
    assert opinion(logits).probability[0, 0] > 0.9
