"""View agreement without B x B matrices: exact enough in float32, and never negative."""

from __future__ import annotations

import pytest
import torch

from eventide.losses import agreement as module
from eventide.losses.agreement import view_agreement


def views_of(batch: int, width: int, spread: float) -> list[torch.Tensor]:
    """Three views that differ from a common one by ``spread``."""
    generator = torch.Generator().manual_seed(0)
    base = torch.randn(batch, width, generator=generator)
    return [
        (base + spread * torch.randn(batch, width, generator=generator)).requires_grad_()
        for _ in range(3)
    ]


@pytest.mark.parametrize("spread", [0.0, 1e-3, 0.1, 10.0])
def test_float32_products_agree_with_float64_similarities(spread):
    views = views_of(400, 16, spread)
    wide = [view.detach().double().requires_grad_() for view in views]
    unit = [view / view.norm(dim=1, keepdim=True) for view in wide]
    exact = (
        sum(
            (unit[a] @ unit[a].T - unit[b] @ unit[b].T).square().sum()
            for a, b in ((0, 1), (0, 2), (1, 2))
        )
        / len(views[0]) ** 2
    )
    ours = view_agreement(views).mean()
    assert ours.item() >= 0
    assert ours.item() == pytest.approx(exact.item(), rel=1e-4, abs=2e-7)
    expected = torch.autograd.grad(exact, wide)
    for our, their in zip(torch.autograd.grad(ours, views), expected, strict=True):
        torch.testing.assert_close(our.double(), their, rtol=1e-3, atol=1e-8)


def test_equal_views_agree():
    view = views_of(50, 4, 0.0)[0]
    assert view_agreement([view, view]).max().item() < 1e-6


def test_the_long_way_is_not_taken_for_large_batches(monkeypatch):
    monkeypatch.setattr(module, "combinations", None)
    assert view_agreement(views_of(50, 4, 1.0)).shape == (50,)


def test_zero_embeddings_are_harmless():
    views = [torch.zeros(30, 3, requires_grad=True) for _ in range(2)]
    view_agreement(views).mean().backward()
    assert all(torch.equal(view.grad, torch.zeros(30, 3)) for view in views)
