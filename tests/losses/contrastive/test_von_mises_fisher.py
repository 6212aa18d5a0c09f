"""The normaliser against mpmath, its slope against differences, the contrast against plain loops."""

import math

import mpmath
import numpy as np
import pytest
import torch

from eventide.losses.contrastive.von_mises_fisher import (
    LARGEST,
    concentration,
    expected_contrast,
    log_normaliser,
)

KAPPAS = [1e-3, 0.5, 7.0, 63.0, 640.0, 2e4, 1e5]


def exact(kappa, width):
    """log(I_v(kappa) / kappa^v) in 40 digits."""
    with mpmath.workdps(40):
        order = mpmath.mpf(width) / 2 - 1
        return mpmath.log(mpmath.besseli(order, kappa)) - order * mpmath.log(kappa)


@pytest.mark.parametrize(("width", "close"), [(128, 1e-9), (256, 1e-9), (16, 1e-5)])
def test_the_normaliser_is_that_of_mpmath(width, close):
    found = log_normaliser(torch.tensor(KAPPAS), width)
    expected = [float(exact(mpmath.mpf(kappa), width)) for kappa in torch.tensor(KAPPAS).tolist()]
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-12, atol=close)


def test_its_slope_is_the_ratio_of_bessel_functions():
    kappas = torch.tensor(KAPPAS, dtype=torch.float64, requires_grad=True)
    log_normaliser(kappas, 128).sum().backward()
    with mpmath.workdps(40):
        ratios = [mpmath.besseli(64, kappa) / mpmath.besseli(63, kappa) for kappa in KAPPAS]
    np.testing.assert_allclose(kappas.grad.numpy(), [float(each) for each in ratios], rtol=1e-8)


def test_nothing_breaks_at_zero_and_in_few_dimensions():
    nothing = torch.zeros(1, dtype=torch.float64, requires_grad=True)
    value = log_normaliser(nothing, 128)
    value.backward()
    # I_v(x) / x^v goes to 1 / (2^v v!)
    assert value.item() == pytest.approx(-63 * math.log(2) - math.lgamma(64), abs=1e-9)
    assert nothing.grad.item() == 0
    with pytest.raises(ValueError, match="at least 16"):
        log_normaliser(nothing, 4)


def test_concentration_is_the_papers_and_bounded():
    lengths = torch.tensor([0.2, 0.9, 1.0, 1.0 + 1e-9], dtype=torch.float64)
    found = concentration(lengths, 128).tolist()
    expected = [length * (128 - length**2) / (1 - length**2) for length in (0.2, 0.9)]
    assert found[:2] == pytest.approx(expected)
    assert found[2:] == [LARGEST, LARGEST]


def batch(seed=0, messages=3, classes=4, width=32):
    generator = torch.Generator().manual_seed(seed)
    z = torch.randn(messages, width, generator=generator, dtype=torch.float64)
    means = torch.randn(classes, width, generator=generator, dtype=torch.float64)
    lengths = torch.tensor([0.99, 0.7, 0.2, 0.0], dtype=torch.float64)[:classes]
    return z / z.norm(dim=1, keepdim=True), lengths[:, None] * means / means.norm(dim=1)[:, None]


def test_the_contrast_is_that_of_plain_loops():
    z, means = batch()
    found = expected_contrast(z, means, 0.1)
    for i, message in enumerate(z.tolist()):
        for j, mean in enumerate(means.tolist()):
            length = math.sqrt(sum(each**2 for each in mean))
            kappa = length * (32 - length**2) / (1 - length**2)
            along = [each / length if length else 0.0 for each in mean]
            moved = [kappa * m + own / 0.1 for m, own in zip(along, message, strict=True)]
            longer = math.sqrt(sum(each**2 for each in moved))
            expected = exact(mpmath.mpf(longer), 32) - exact(mpmath.mpf(max(kappa, 1e-9)), 32)
            assert found[i, j].item() == pytest.approx(float(expected), abs=1e-6)


def test_the_contrast_is_what_many_samples_say():
    """E[exp(z.x / t)] over a nearly uniform class, by drawing from the sphere."""
    z, _ = batch(width=32, messages=2)
    drawn = torch.randn(400_000, 32, generator=torch.Generator().manual_seed(1)).double()
    drawn = drawn / drawn.norm(dim=1, keepdim=True)
    sampled = (z @ drawn.T / 0.5).exp().mean(dim=1).log()
    found = expected_contrast(z, torch.zeros(1, 32), 0.5)[:, 0]
    torch.testing.assert_close(found, sampled, atol=5e-3, rtol=0)


def test_its_gradient_is_that_of_differences():
    z, means = batch()
    z.requires_grad_(True)
    assert torch.autograd.gradcheck(lambda each: expected_contrast(each, means, 0.1), (z,))
