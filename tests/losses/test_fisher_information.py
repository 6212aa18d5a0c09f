"""I-EDL's losses against plain loops in 60 digits, with evidence beyond any number."""

import mpmath
import pytest
import torch

from eventide.losses.fisher_information import information, information_error
from eventide.opinions.fusion import fuse
from eventide.opinions.opinion import Opinion

EVIDENCE = [[0.0, 0.0, 0.0], [3.0, 0.5, 0.0], [40.0, 70.0, 0.2], [1e6, 3e6, 1e2], [0.0, 1e9, 0.0]]
LABELS = [2, 0, 1, 0, 1]


def oracle(evidence, label):
    """Error and information of one message, as printed."""
    with mpmath.workdps(80):
        alpha = [mpmath.mpf(each) + 1 for each in evidence]
        strength = sum(alpha)
        error = determinant = mpmath.mpf(0)
        rest = mpmath.mpf(1)
        for c, each in enumerate(alpha):
            weight = mpmath.psi(1, each)
            truth = 1 if c == label else 0
            error += (truth - each / strength) ** 2 * weight
            error += each * (strength - each) * weight / (strength**2 * (strength + 1))
            determinant += mpmath.log(weight)
            rest -= mpmath.psi(1, strength) / weight
        return float(error), float(-(determinant + mpmath.log(rest)))


def test_the_losses_are_those_of_plain_loops():
    opinion = Opinion.from_evidence(torch.tensor(EVIDENCE, dtype=torch.float64))
    errors = information_error(opinion, torch.tensor(LABELS))
    informations = information(opinion)
    for i, (evidence, label) in enumerate(zip(EVIDENCE, LABELS, strict=True)):
        error, wanted = oracle(evidence, label)
        assert errors[i].item() == pytest.approx(error, rel=1e-8)
        assert informations[i].item() == pytest.approx(wanted, rel=1e-9)


def test_the_determinant_is_that_of_the_matrix():
    opinion = Opinion.from_evidence(torch.tensor(EVIDENCE[:3], dtype=torch.float64))
    for i, alpha in enumerate(opinion.alpha):
        diagonal = torch.diag(torch.polygamma(1, alpha))
        fisher = diagonal - torch.polygamma(1, alpha.sum())
        assert information(opinion)[i].item() == pytest.approx(-fisher.logdet().item(), abs=1e-5)


@pytest.mark.parametrize("growth", [50.0, 400.0, 5000.0])
def test_huge_evidence_stays_finite_with_its_gradient(growth):
    """Fused evidence is a product: 5000 is the logarithm of a number with 2,171 digits."""
    start = torch.tensor([[growth, growth / 2, 0.0], [0.0, growth, growth]], dtype=torch.float64)
    start.requires_grad_(True)
    opinion = Opinion(start)
    loss = information_error(opinion, torch.tensor([0, 0])) + information(opinion)
    loss.sum().backward()
    assert loss.isfinite().all()
    assert start.grad.isfinite().all()
    # -log det = sum of log(alpha) + log(strength) - log((C - 1) / 2 + a little), more evidence more
    assert (information(opinion) > growth).all()


def test_a_right_opinion_errs_less_and_views_are_fused():
    one = Opinion.from_evidence(torch.tensor([[20.0, 0.0], [0.0, 20.0]]))
    labels = torch.tensor([0, 0])
    right, wrong = information_error(fuse([one, one, one]), labels).tolist()
    assert right < 1e-3 < 1 < wrong
