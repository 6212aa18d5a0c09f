from __future__ import annotations

import numpy as np
from hypothesis import given, settings

from eventide.graphs.exact.subsets import SubsetTable, linking, profiles
from eventide.graphs.incidence import shared_pairs
from generated_graphs import cases


@settings(max_examples=60, deadline=None)
@given(cases())
def test_linking_elements_keep_the_graph(case):
    whole, less = case.incidence, linking(case.incidence)
    assert (less.degrees <= whole.degrees).all()

    def edges(incidence):
        left, right = shared_pairs(incidence, incidence)
        return set(zip(left[left != right].tolist(), right[left != right].tolist(), strict=True))

    assert edges(less) == edges(whole)


@settings(max_examples=60, deadline=None)
@given(cases())
def test_profiles_are_the_distinct_sets(case):
    profile, sets = profiles(case.incidence)
    incidence = case.incidence
    rows = [
        frozenset(incidence.elements[a:b].tolist())
        for a, b in zip(incidence.pointers, incidence.pointers[1:], strict=False)
    ]
    kinds = [
        frozenset(sets.elements[a:b].tolist())
        for a, b in zip(sets.pointers, sets.pointers[1:], strict=False)
    ]
    assert [kinds[number] for number in profile] == rows
    assert len(set(kinds)) == len(kinds)


@settings(max_examples=40, deadline=None)
@given(cases())
def test_subset_support_is_exact(case):
    from eventide.graphs.exact.subsets import keep_elements

    incidence = case.incidence
    incidence = keep_elements(incidence, incidence.degrees <= 6, by_row=True)
    table, groups = SubsetTable.build(incidence)
    rows = [
        set(incidence.elements[a:b].tolist())
        for a, b in zip(incidence.pointers, incidence.pointers[1:], strict=False)
    ]
    subsets = {}
    for group in groups:
        for row, number, mask in zip(*group.pairs(), strict=True):
            names = incidence.elements[incidence.pointers[row] :][: group.size]
            subset = frozenset(
                names[[bit for bit in range(group.size) if mask >> bit & 1]].tolist()
            )
            assert subsets.setdefault(int(number), subset) == subset
    assert len(set(subsets.values())) == len(subsets) == len(table.support)
    for number, subset in subsets.items():
        assert table.support[number] == sum(subset <= row for row in rows)
    assert all(
        np.array_equal(a.subsets, b.subsets)
        for a, b in zip(groups, table.find(incidence), strict=True)
    )
