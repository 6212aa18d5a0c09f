"""Gamma functions of logarithms against 400 digits of arithmetic."""

from __future__ import annotations

import mpmath
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from eventide.opinions.special import digamma, divergence_from_uniform, surprise

mpmath.mp.dps = 400
logs = st.one_of(st.just(0.0), st.floats(1e-12, 8), st.floats(3.8, 4.1), st.floats(0, 700))


def divergence_by_mpmath(log_alpha: list[float]) -> float:
    alpha = [mpmath.exp(mpmath.mpf(x)) for x in log_alpha]
    strength = mpmath.fsum(alpha)
    value = mpmath.loggamma(strength) - mpmath.loggamma(len(alpha))
    for a in alpha:
        value += -mpmath.loggamma(a) + (a - 1) * (mpmath.digamma(a) - mpmath.digamma(strength))
    return float(value)


@given(st.lists(logs, min_size=2, max_size=5))
@settings(max_examples=30, deadline=None)
def test_divergence_is_exact_for_any_size(log_alpha):
    ours = divergence_from_uniform(torch.tensor([log_alpha], dtype=torch.float64)).item()
    assert ours >= 0
    assert ours == pytest.approx(divergence_by_mpmath(log_alpha), rel=1e-11, abs=1e-11)


@given(logs)
@settings(max_examples=30, deadline=None)
def test_digamma_and_surprise(log_x):
    value, x = torch.tensor(log_x, dtype=torch.float64), mpmath.exp(mpmath.mpf(log_x))
    assert digamma(value).item() == pytest.approx(float(mpmath.digamma(x)), rel=1e-12, abs=1e-12)
    expected = mpmath.loggamma(x) - (x - 1) * mpmath.digamma(x) + x
    assert surprise(value).item() == pytest.approx(float(expected), rel=1e-12, abs=1e-12)


def test_gradients_across_the_seams():
    for function in (digamma, surprise):
        for seam in (3.912023, 20.0, 5.0, 0.01):
            points = torch.tensor([seam - 1e-3, seam + 1e-3], dtype=torch.float64)
            points.requires_grad_()
            assert torch.autograd.gradcheck(function, points, atol=1e-6)
    far = torch.full((1, 3), 3000.0, dtype=torch.float64, requires_grad=True)
    assert torch.isfinite(torch.autograd.grad(divergence_from_uniform(far).sum(), far)[0]).all()
