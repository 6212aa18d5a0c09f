"""What a margin can do, against the gradients of the loss itself."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from eventide.losses.contrastive.prototypical import prototype_loss
from eventide.losses.settings import LossSettings
from eventide.reports.claims.margin_effect import LEADS, effect_table, margin_effect, pull


def brute_pull(classes, margin, temperature, own):
    """1 - p_y by automatic differentiation: cosine ``own`` to the own prototype, 0 to all others.

    Other prototypes are at right angles to the message, so that the gradient of the embedding along
    one of them is the derivative by that similarity: p_c / temperature.
    """
    prototypes = torch.eye(classes, classes + 1, dtype=torch.float64)
    message = torch.zeros(1, classes + 1, dtype=torch.float64)
    message[0, 0], message[0, -1] = own, math.sqrt(1 - own**2)
    message.requires_grad_()
    margins = torch.full((classes,), margin, dtype=torch.float64)
    loss = prototype_loss(
        message, prototypes, torch.tensor([0]), margins=margins, temperature=temperature
    )
    (gradient,) = torch.autograd.grad(loss.sum(), message)
    return temperature * float(gradient[0, 1:classes].sum())


@given(st.integers(2, 120), st.floats(0, 0.5), st.sampled_from([1.0, 0.5, 0.1]), st.floats(0, 0.99))
def test_the_pull_is_that_of_the_loss(classes, margin, temperature, own):
    expected = brute_pull(classes, margin, temperature, own)
    assert pull(classes, margin, temperature, lead=own) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    ("classes", "temperature", "per_cent"),
    [(7, 1.0, 2.8), (28, 1.0, 0.8), (100, 1.0, 0.2), (7, 0.1, 171.5), (28, 0.1, 170.3)],
)
def test_the_figures_that_we_quote(classes, temperature, per_cent):
    """A fully uncertain class at beta 0.1; a fitted message: 0.9 to its prototype, 0 to others."""
    expected = brute_pull(classes, 0.1, temperature, 0.9) / brute_pull(
        classes, 0.0, temperature, 0.9
    )
    found = margin_effect(classes, beta=0.1, temperature=temperature, uncertainty=1.0)
    assert found == pytest.approx(expected - 1, rel=1e-6)
    assert round(100 * found, 1) == per_cent


def test_no_margin_and_no_uncertainty_have_no_effect():
    assert margin_effect(7, beta=0.0) == margin_effect(7, uncertainty=0.0) == 0.0
    assert margin_effect(7, uncertainty=0.5) == margin_effect(7, beta=0.05)


@given(st.integers(2, 500), st.floats(0, 2), st.sampled_from([1.0, 0.1]))
def test_no_lead_gives_a_margin_more_than_its_exponential(classes, lead, temperature):
    effect = margin_effect(classes, 0.1, temperature, lead=lead)
    assert 0 < effect <= math.expm1(0.1 / temperature) + 1e-12


def test_the_table_has_the_classes_and_the_losses_in_use():
    table = effect_table(12, [LossSettings(), LossSettings(margin_scale=0.3, temperature=0.2)])
    rows = [row[:3] for row in table.rows]
    assert [row[0] for row in rows[:4]] == [7, 12, 28, 100]
    assert {row[1:] for row in rows} == {("0.1", "1"), ("0.1", "0.1"), ("0.3", "0.2")}
    assert len(rows) == 12
    place = 3 + list(LEADS).index("fitted")
    assert table.rows[-3][place].mean == margin_effect(12, 0.3, 0.2)
    assert [row[0] for row in effect_table(7).rows[:3]] == [7, 28, 100]
    assert [row[0] for row in effect_table(1).rows[:3]] == [7, 28, 100]  # nothing to stay away from
