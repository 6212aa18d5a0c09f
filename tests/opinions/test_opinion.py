"""Opinions: masses add up, everything is finite, ties are not votes."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import digamma, xlogy

from eventide.opinions.opinion import NO_OPINION, Opinion

amounts = st.one_of(st.just(0.0), st.floats(1e-300, 1e-6), st.floats(0, 1e3), st.floats(1e3, 1e300))
rows = st.integers(1, 6).flatmap(
    lambda classes: st.lists(
        st.lists(amounts, min_size=classes, max_size=classes), min_size=1, max_size=3
    )
)
EVERY = (
    "belief",
    "uncertainty",
    "log_uncertainty",
    "strength",
    "alpha",
    "evidence",
    "probability",
    "dissonance",
    "expected_entropy",
    "mutual_information",
    "log_alpha",
    "log_strength",
)


@given(rows)
@settings(max_examples=80, deadline=None)
def test_masses_add_up_and_everything_is_finite(evidence):
    given_evidence = torch.tensor(evidence, dtype=torch.float64, requires_grad=True)
    opinion = Opinion.from_evidence(given_evidence)
    ones = torch.ones(len(evidence), dtype=torch.float64)
    torch.testing.assert_close(opinion.belief.sum(1) + opinion.uncertainty, ones)
    torch.testing.assert_close(opinion.probability.sum(1), ones)
    for name in EVERY:
        values = getattr(opinion, name)
        assert values.dtype == torch.float64
        assert torch.isfinite(values).all(), name
        gradient = torch.autograd.grad(values.sum(), given_evidence, retain_graph=True)[0]
        assert torch.isfinite(gradient).all(), name
    assert torch.isfinite(opinion.log_certainty()).all()
    assert (opinion.dissonance >= 0).all()
    assert (opinion.dissonance <= 1 + 1e-12).all()
    assert (opinion.mutual_information >= 0).all()


def test_float32_evidence_is_widened_before_anything_else():
    assert Opinion.from_evidence(torch.tensor([[1e30, 1.0]])).belief.dtype == torch.float64


def test_no_evidence_is_no_vote_for_the_first_class():
    opinion = Opinion.from_evidence(torch.tensor([[0.0, 0.0], [0.0, 1e-9], [3.0, 1.0]]))
    assert opinion.predicted.tolist() == [NO_OPINION, 1, 0]
    assert opinion.decided(1).tolist() == [1, 1, 0]
    assert opinion.decided(torch.tensor([0, 0, 1])).tolist() == [0, 1, 0]


def test_log_certainty_keeps_small_differences():
    opinion = Opinion.from_evidence(torch.tensor([[1e-9, 0.0], [0.0, 0.0]], dtype=torch.float64))
    expected = torch.log(torch.tensor([1e-9 + 1e-6, 1e-6], dtype=torch.float64) / 2)
    torch.testing.assert_close(opinion.log_certainty(), expected, atol=1e-8, rtol=1e-9)


evidence_rows = st.lists(st.floats(0, 50), min_size=2, max_size=5)


@given(evidence_rows)
@settings(max_examples=40, deadline=None)
def test_dissonance_against_loops(evidence):
    opinion = Opinion.from_evidence(torch.tensor([evidence], dtype=torch.float64))
    belief = opinion.belief[0].tolist()
    expected = 0.0
    for c, own in enumerate(belief):
        others = [b for j, b in enumerate(belief) if j != c]
        balanced = sum(b * (1 - abs(b - own) / (b + own)) for b in others if b + own > 0 and b > 0)
        expected += own * balanced / sum(others) if sum(others) > 0 else 0.0
    assert opinion.dissonance.item() == pytest.approx(expected, abs=1e-12)


@given(evidence_rows)
@settings(max_examples=40, deadline=None)
def test_entropies_against_loops(evidence):
    opinion = Opinion.from_evidence(torch.tensor([evidence], dtype=torch.float64))
    alpha = [e + 1 for e in evidence]
    strength = sum(alpha)
    expected = digamma(strength + 1) - sum(a / strength * digamma(a + 1) for a in alpha)
    entropy = -sum(xlogy(a / strength, a / strength) for a in alpha)
    assert opinion.expected_entropy.item() == pytest.approx(expected, abs=1e-10)
    assert opinion.mutual_information.item() == pytest.approx(entropy - expected, abs=1e-10)


def test_rival_beliefs_are_dissonant_and_a_firm_one_is_not():
    rivals, firm = Opinion.from_evidence(torch.tensor([[1e6, 1e6], [1e6, 0.0]])).dissonance
    assert rivals > 0.999
    assert firm == 0
