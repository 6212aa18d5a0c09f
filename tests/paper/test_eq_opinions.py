"""equ_edl, eq_dst, dst_three_views and class uncertainty against loops over masses."""

from __future__ import annotations

import itertools

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from eventide.losses.class_state import initial_class_uncertainty, updated_means
from eventide.opinions.fusion import conflict, fuse, pairwise_conflict
from eventide.opinions.opinion import Opinion
from oracles import assert_same, dempster_pair, opinion

amounts = st.one_of(st.just(0.0), st.floats(1e-6, 1e4))


def evidence_of(views: int):
    """One evidence tensor [B, C] per view, all of one shape."""
    return st.tuples(st.integers(1, 3), st.integers(2, 5)).flatmap(
        lambda shape: st.lists(
            st.lists(amounts, min_size=shape[0] * shape[1], max_size=shape[0] * shape[1]).map(
                lambda flat: torch.tensor(flat, dtype=torch.float64).reshape(shape)
            ),
            min_size=views,
            max_size=views,
        )
    )


def loops_masses(evidence: list[torch.Tensor], row: int, order) -> tuple:
    """Masses of one message, views combined one after the other, and the product of 1 - T."""
    masses, agreement = opinion(evidence[order[0]][row]), torch.tensor(1.0)
    for view in order[1:]:
        masses, clash = dempster_pair(masses, opinion(evidence[view][row]))
        agreement = agreement * (1 - clash)
    return masses, 1 - agreement


@given(evidence_of(1))
@settings(max_examples=40, deadline=None)
def test_single_view_opinion(evidence):
    values = evidence[0].requires_grad_()
    ours = Opinion.from_evidence(values)
    for row in range(len(values)):
        belief, uncertainty = opinion(values[row])
        assert_same(ours.belief[row], torch.stack(belief), [values])
        assert_same(ours.uncertainty[row], uncertainty, [values])
        assert_same(ours.strength[row], len(belief) / uncertainty)
        assert_same(ours.alpha[row], values[row] + 1)


@given(evidence_of(2))
@settings(max_examples=40, deadline=None)
def test_two_views(evidence):
    evidence = [view.requires_grad_() for view in evidence]
    views = [Opinion.from_evidence(view) for view in evidence]
    fused, clash = fuse(views), conflict(views)
    for row in range(len(evidence[0])):
        (belief, uncertainty), expected = dempster_pair(
            opinion(evidence[0][row]), opinion(evidence[1][row])
        )
        assert_same(fused.belief[row], torch.stack(belief), evidence)
        assert_same(fused.uncertainty[row], uncertainty, evidence)
        assert_same(clash[row], expected)
        assert_same(pairwise_conflict(views)[0, 1][row], expected)


@given(evidence_of(3))
@settings(max_examples=40, deadline=None)
def test_three_views_in_any_order(evidence):
    views = [Opinion.from_evidence(view) for view in evidence]
    fused, clash = fuse(views), conflict(views)
    for row in range(len(evidence[0])):
        for order in itertools.permutations(range(3)):
            (belief, uncertainty), expected = loops_masses(evidence, row, order)
            assert_same(fused.belief[row], torch.stack(belief))
            assert_same(fused.uncertainty[row], uncertainty)
            torch.testing.assert_close(clash[row], expected.double(), rtol=1e-6, atol=1e-6)


def test_class_uncertainty_is_a_mean_over_training_messages_of_the_class():
    values, labels = [0.2, 0.4, 0.9, 0.1], [0, 2, 0, 2]
    previous = torch.tensor([0.5, 0.6, 0.7], dtype=torch.float64)
    expected = []
    for c in range(3):
        members = [u for u, y in zip(values, labels, strict=True) if y == c]
        expected.append(sum(members) / len(members) if members else float(previous[c]))
    ours = updated_means(torch.tensor(values, dtype=torch.float64), torch.tensor(labels), previous)
    assert ours.tolist() == pytest.approx(expected, abs=1e-12)


def test_class_uncertainty_starts_just_below_one():
    assert initial_class_uncertainty(4).tolist() == [1 - 1e-6] * 4
