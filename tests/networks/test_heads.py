"""Evidence is never negative, always finite, and keeps the order of the logits."""

from __future__ import annotations

import math

import pytest
import torch

from eventide.networks.heads import EvidenceHead, evidence_of
from eventide.networks.initialisation import Noise
from eventide.networks.settings import NetworkSettings

LOGITS = torch.tensor([[-1e4, -3.0, 0.0, 2.0, 1e4]])


@pytest.mark.parametrize("kind", ["relu", "softplus", "exp"])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_evidence(kind, dtype):
    values = evidence_of(LOGITS.to(dtype), NetworkSettings(evidence=kind))
    assert torch.isfinite(values).all()
    assert (values >= 0).all()
    assert (values.diff() >= 0).all()
    assert values.dtype == (torch.float64 if dtype == torch.float64 else torch.float32)


def test_functions_and_temperature_and_logit_bound():
    two = torch.tensor([[2.0]])
    assert evidence_of(two, NetworkSettings(temperature=4)).item() == 0.5
    soft = evidence_of(two, NetworkSettings(evidence="softplus")).item()
    assert soft == pytest.approx(torch.log1p(two.exp()).item())
    bent = evidence_of(two, NetworkSettings(evidence="exp", logit_bound=1)).item()
    assert bent == pytest.approx(math.exp(math.tanh(2.0)))


def test_beyond_its_bounds_exp_can_still_be_talked_out_of_its_evidence():
    logit = torch.tensor([[24.0]], requires_grad=True)
    evidence_of(logit, NetworkSettings(evidence="exp")).log().sum().backward()
    assert logit.grad.item() == pytest.approx(1 / math.cosh(2.4) ** 2, rel=1e-4)


def test_relu_leaves_a_class_without_gradient_and_softplus_does_not():
    for kind, alive in (("relu", False), ("softplus", True), ("exp", True)):
        logit = torch.tensor([[-2.0]], requires_grad=True)
        evidence_of(logit, NetworkSettings(evidence=kind)).sum().backward()
        assert (logit.grad.item() != 0) is alive


def test_head_is_linear_relu_linear():
    head = EvidenceHead(
        3,
        2,
        NetworkSettings(head_hidden=4),
        generator=torch.Generator().manual_seed(0),
        noise=Noise(0),
    )
    values = torch.randn(5, 3, generator=torch.Generator().manual_seed(1))
    hidden = torch.clamp(values @ head.hidden.weight.T + head.hidden.bias, min=0)
    expected = hidden @ head.output.weight.T + head.output.bias
    torch.testing.assert_close(head(values), expected)


def test_cosine_head_compares_directions():
    settings = NetworkSettings(head_hidden=4, classifier="cosine", cosine_scale=30)
    head = EvidenceHead(3, 2, settings, generator=torch.Generator().manual_seed(0), noise=Noise(0))
    values = torch.randn(5, 3, generator=torch.Generator().manual_seed(1))
    hidden = torch.clamp(values @ head.hidden.weight.T + head.hidden.bias, min=0)
    expected = torch.nn.functional.cosine_similarity(
        hidden.unsqueeze(1), head.output.weight.unsqueeze(0), dim=2
    )
    torch.testing.assert_close(head(values), 30 * expected)
    assert "output.bias" not in head.state_dict()
