"""The trigamma function against mpmath, from 1 to far beyond what a number can hold."""

import math

import mpmath
import numpy as np
import torch

from eventide.opinions.trigamma import FAR, log_trigamma, trigamma_excess

LOGS = [0.0, 0.3, 2.0, FAR - 1e-9, FAR + 1e-9, 6.0, 20.0, 100.0, 690.0, 5000.0]


def test_excess_and_logarithm_are_those_of_mpmath():
    logs = torch.tensor(LOGS, dtype=torch.float64)
    with mpmath.workdps(60):
        xs = [mpmath.e ** mpmath.mpf(each) for each in LOGS]
        # Beyond 1e40 mpmath's digits are spent too; there it is 1/2 + 1/(6x).
        excess = [
            x * (x * mpmath.psi(1, x) - 1) if x < 1e18 else mpmath.mpf(1) / 2 + 1 / (6 * x)
            for x in xs
        ]
        logarithm = [
            mpmath.log1p(each / x) - mpmath.log(x) for each, x in zip(excess, xs, strict=True)
        ]
    np.testing.assert_allclose(trigamma_excess(logs), [float(e) for e in excess], rtol=1e-13)
    np.testing.assert_allclose(log_trigamma(logs), [float(e) for e in logarithm], rtol=1e-13)


def test_gradients_are_those_of_differences_and_finite_everywhere():
    near = torch.tensor([0.1, 1.0, 3.0, 4.5, 8.0], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(log_trigamma, (near,))
    assert torch.autograd.gradcheck(trigamma_excess, (near,))
    everywhere = torch.tensor([0.0, 60.0, 800.0, 1e5], dtype=torch.float64, requires_grad=True)
    (log_trigamma(everywhere) + trigamma_excess(everywhere)).sum().backward()
    assert everywhere.grad.isfinite().all()
    assert math.isclose(everywhere.grad[-1].item(), -1.0)
