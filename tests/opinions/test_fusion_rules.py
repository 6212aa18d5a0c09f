"""Fusion rules beside Dempster's, against plain loops."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from eventide.opinions import FUSIONS
from eventide.opinions.fusion import cumulative, discount, discounted, fuse
from eventide.opinions.opinion import Opinion

EVIDENCE = st.lists(
    st.lists(st.floats(0, 1e6), min_size=3, max_size=3), min_size=1, max_size=4
)  # views, each with three classes


def opinions(evidence: list[list[float]]) -> list[Opinion]:
    return [Opinion.from_evidence(torch.tensor([each], dtype=torch.float64)) for each in evidence]


@given(EVIDENCE)
def test_cumulative_fusion_adds_evidence(evidence):
    expected = [sum(view[c] for view in evidence) for c in range(3)]
    assert cumulative(opinions(evidence)).evidence[0].tolist() == pytest.approx(
        expected, rel=1e-9, abs=1e-6
    )


@given(st.lists(st.floats(0, 1e6), min_size=3, max_size=3), st.floats(0, 1))
def test_a_discount_turns_belief_into_uncertainty(evidence, reliability):
    (given_,) = opinions([evidence])
    found = discount(given_, torch.tensor(reliability, dtype=torch.float64))
    strength = sum(evidence) + 3
    assert found.belief[0].tolist() == pytest.approx(
        [reliability * e / strength for e in evidence], rel=1e-6, abs=1e-9
    )
    lost = 1 - reliability * sum(evidence) / strength
    assert float(found.uncertainty[0]) == pytest.approx(lost, rel=1e-6, abs=1e-9)


def test_discounted_fusion_in_plain_steps():
    views = opinions([[9.0, 0.0, 1.0], [0.0, 5.0, 0.0], [4.0, 0.0, 0.0]])
    masses = [([float(b) for b in each.belief[0]], float(each.uncertainty[0])) for each in views]

    def contradiction(one: int, other: int) -> float:
        (b, _), (d, _) = masses[one], masses[other]
        return sum(b[i] * d[j] for i in range(3) for j in range(3) if i != j)

    trusted = []
    for v in range(3):
        others = [w for w in range(3) if w != v]
        reliability = 1 - sum(contradiction(v, w) for w in others) / 2
        trusted.append(discount(views[v], torch.tensor(reliability, dtype=torch.float64)))
    expected = fuse(trusted)
    torch.testing.assert_close(discounted(views).belief, expected.belief)
    # The view that contradicts the others loses its say.
    (first, second, _), (before, other, _) = discounted(views).belief[0], fuse(views).belief[0]
    assert second / first < other / before


@pytest.mark.parametrize("name", FUSIONS.names())
def test_a_vacuous_view_stays_neutral_and_gradients_are_finite(name):
    rule = FUSIONS.load(name)
    rule = rule() if isinstance(rule, type) else rule
    firm = torch.tensor([[8.0, 0.0, 1.0]], requires_grad=True)
    nothing = torch.zeros(1, 3, requires_grad=True)
    fused = rule([Opinion.from_evidence(firm), Opinion.from_evidence(nothing)])
    assert int(fused.predicted) == 0
    if name != "average":  # which lets a view that knows nothing weaken the others
        torch.testing.assert_close(fused.belief, Opinion.from_evidence(firm).belief)
    fused.probability[0, 0].backward()
    assert torch.isfinite(firm.grad).all()
    assert torch.isfinite(nothing.grad).all()
