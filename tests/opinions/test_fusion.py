"""Fusion: any number of views, any amount of evidence, any order."""

from __future__ import annotations

import pytest
import torch

from eventide.errors import BadSetting
from eventide.opinions.fusion import conflict, fuse, pairwise_conflict
from eventide.opinions.opinion import Opinion


def test_a_view_without_evidence_changes_nothing():
    view = Opinion.from_evidence(torch.tensor([[3.0, 1.0, 0.0]]))
    nothing = Opinion.from_evidence(torch.zeros(1, 3))
    torch.testing.assert_close(fuse([view, nothing]).belief, view.belief)
    assert conflict([view, nothing]).item() == pytest.approx(0, abs=1e-15)


@pytest.mark.parametrize("views", [1, 3, 40])
def test_huge_evidence_stays_finite_with_finite_gradients(views):
    evidence = torch.tensor([[1e300, 5e299, 0.0]], dtype=torch.float64, requires_grad=True)
    opinions = [Opinion.from_evidence(evidence)] * views
    fused = fuse(opinions)
    for values in (fused.belief, fused.uncertainty, fused.dissonance, conflict(opinions)):
        assert torch.isfinite(values).all()
        gradient = torch.autograd.grad(values.sum(), evidence, retain_graph=True)[0]
        assert torch.isfinite(gradient).all()
    assert fused.predicted.item() == 0
    assert fused.belief[0, 0] > 0.6


def test_order_does_not_matter():
    generator = torch.Generator().manual_seed(0)
    views = [Opinion.from_evidence(9 * torch.rand(5, 4, generator=generator)) for _ in range(4)]
    torch.testing.assert_close(fuse(views).belief, fuse(views[::-1]).belief, rtol=0, atol=1e-15)
    torch.testing.assert_close(conflict(views), conflict(views[::-1]), rtol=0, atol=1e-14)


def test_contradicting_views_conflict_and_agreeing_ones_do_not():
    one = Opinion.from_evidence(torch.tensor([[1e6, 0.0]]))
    other = Opinion.from_evidence(torch.tensor([[0.0, 1e6]]))
    pairs = pairwise_conflict([one, other, one])
    assert set(pairs) == {(0, 1), (0, 2), (1, 2)}
    assert pairs[0, 1].item() > 0.999
    assert pairs[0, 2].item() == pytest.approx(0, abs=1e-12)
    assert conflict([one, other, one]).item() >= pairs[0, 1].item()


def test_no_views_is_an_error():
    with pytest.raises(BadSetting, match="no opinion"):
        fuse([])
