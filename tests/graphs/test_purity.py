from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings

import eventide.graphs.purity as purity
from eventide.graphs.incidence import shared_pairs
from eventide.graphs.purity import count_edges, edge_counts
from eventide.graphs.views import View
from generated_graphs import cases


@settings(max_examples=100, deadline=None)
@given(cases())
def test_counts_agree_with_explicit_edges(case):
    random = np.random.default_rng(case.seed)
    events = random.integers(-1, 3, len(case.sets))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(purity, "COUNT_MOST", case.most)
        patch.setattr(purity, "COUNT_RARE", case.rare)
        facts = count_edges(case.incidence, events, "view")
    left, right = shared_pairs(case.incidence, case.incidence)
    once = left < right
    a, b = events[left[once]], events[right[once]]
    assert facts.edges == once.sum()
    assert facts.labelled == ((a >= 0) & (b >= 0)).sum()
    assert facts.same == ((a == b) & (a >= 0)).sum()


def test_views_and_their_union():
    frame = pl.DataFrame(
        {
            "event": ["x", "x", "y", None],
            "tags": [["a"], ["a"], [], ["a"]],
            "names": [["n"], ["n"], ["n"], []],
        }
    )
    tags, names, both = edge_counts(frame, [View("tag", ("tags",)), View("name", ("names",))])
    assert (tags.edges, tags.labelled, tags.same, tags.purity) == (3, 1, 1, 1.0)
    assert (names.edges, names.labelled, names.same) == (3, 3, 1)
    assert (both.view, both.edges, both.labelled, both.same) == ("all", 5, 3, 1)


def test_no_edges_have_no_purity():
    facts = edge_counts(pl.DataFrame({"event": ["x"], "tags": [["a"]]}), [View("tag", ("tags",))])
    assert facts[0].edges == 0
    assert facts[0].purity is None
