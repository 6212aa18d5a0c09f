"""Sampled neighbours: all of them under the cap, a fair and stable draw above it, no cliques."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from eventide.graphs.incidence import Incidence
from eventide.graphs.keys import element_keys
from eventide.graphs.sampled.edge_blocks import SampledGraph, outside_block
from eventide.graphs.sampled.message_similarity import pair_cosines, shared_share
from eventide.graphs.sampled.neighbour_sampler import NeighbourSampler, Sample, joined
from generated_graphs import element_sets


def keys_of(count, kind="id"):
    return element_keys(kind, [str(row) for row in range(count)])


def neighbours(sets, i):
    return [j for j in range(len(sets)) if j != i and set(sets[i]) & set(sets[j])]


def lists(sample):
    return [each.tolist() for each in np.split(sample.sources, sample.pointers[1:-1])]


@settings(deadline=None)
@given(element_sets())
def test_under_the_cap_the_sample_is_the_full_graph(sets):
    sampler = NeighbourSampler(Incidence.of(sets), keys_of(len(sets)), cap=len(sets), seed=1)
    found = lists(sampler.inside(keys_of(len(sets), "text")))
    assert found == [neighbours(sets, i) for i in range(len(sets))]


@settings(deadline=None)
@given(element_sets(), st.integers(1, 6), st.integers(0, 3))
def test_above_the_cap_exactly_cap_true_neighbours_are_drawn(sets, cap, seed):
    sampler = NeighbourSampler(Incidence.of(sets), keys_of(len(sets)), cap=cap, seed=seed)
    for i, found in enumerate(lists(sampler.inside(keys_of(len(sets), "text")))):
        truth = neighbours(sets, i)
        assert len(found) == min(len(truth), cap)
        assert found == sorted(set(found) & set(truth))


@settings(deadline=None)
@given(element_sets(), element_sets(), st.integers(1, 6))
def test_new_messages_read_the_memory_alone_and_each_by_itself(memory, new, cap):
    sampler = NeighbourSampler(Incidence.of(memory), keys_of(len(memory)), cap=cap, seed=0)
    starts = keys_of(len(new), "new")
    together = lists(sampler.outside(Incidence.of(new), starts))
    for i, found in enumerate(together):
        truth = [j for j in range(len(memory)) if set(new[i]) & set(memory[j])]
        assert len(found) == min(len(truth), cap)
        assert set(found) <= set(truth)
        alone = sampler.outside(Incidence.of([new[i]]), starts[i : i + 1])
        assert alone.sources.tolist() == found


def test_the_draw_follows_the_message_not_its_place():
    count = 60
    sets = [["everybody", f"e{row % 7}"] for row in range(count)]
    ids, texts = keys_of(count), keys_of(count, "text")
    order = np.random.default_rng(0).permutation(count)
    straight = NeighbourSampler(Incidence.of(sets), ids, cap=5, seed=2).inside(texts)
    shuffled = NeighbourSampler(
        Incidence.of([sets[row] for row in order]), ids[order], cap=5, seed=2
    ).inside(texts[order])
    for place, row in enumerate(order):
        assert sorted(order[lists(shuffled)[place]].tolist()) == lists(straight)[row]
    other = NeighbourSampler(Incidence.of(sets), ids, cap=5, seed=3).inside(texts)
    assert lists(other) != lists(straight)


def test_a_forgotten_message_leaves_the_other_draws_as_they_were():
    count = 40
    incidence = Incidence.of([["everybody"]] * count)
    ids, texts = keys_of(count), keys_of(count, "text")
    before = lists(NeighbourSampler(incidence, ids, cap=6, seed=0).inside(texts))
    after = lists(
        NeighbourSampler(incidence.take(np.arange(1, count)), ids[1:], cap=6, seed=0).inside(
            texts[1:]
        )
    )
    for row in range(1, count):
        assert set(before[row]) - {0} <= {each + 1 for each in after[row - 1]}


def test_every_neighbour_is_drawn_equally_often():
    """A neighbour that shares many elements, or a rare one, has no better chance than another."""
    count, cap, readers = 40, 8, 4000
    sets = [["everybody", *(["rare", "extra"] if row < 4 else [])] for row in range(count)]
    sampler = NeighbourSampler(Incidence.of(sets), keys_of(count), cap=cap, seed=0)
    new = Incidence.of([["everybody", "rare", "extra"]] * readers)
    drawn = np.zeros(count)
    for seed in range(25):  # one circle has long and short gaps: the average is over circles
        sampler = NeighbourSampler(Incidence.of(sets), keys_of(count), cap=cap, seed=seed)
        drawn += np.bincount(sampler.outside(new, keys_of(readers, "new")).sources, minlength=count)
    share = drawn / (25 * readers)
    assert share.mean() == pytest.approx(cap / count)
    assert abs(share[:4].mean() - cap / count) < 0.05


def test_a_popular_element_costs_no_clique():
    count = 20_000
    sampler = NeighbourSampler(
        Incidence.of([["everybody"]] * count), keys_of(count), cap=32, seed=0
    )
    sample = sampler.inside(keys_of(count, "text"))
    assert (sample.counts == 32).all()
    assert len(np.unique(sample.sources)) > count / 2  # not everybody reads the same few


def test_the_union_of_views_knows_an_element_of_two_views_once():
    one, two = [["a"], ["b"], []], [["a"], [], ["b"]]
    union = joined([Incidence.of(one), Incidence.of(two)])
    assert union.degrees.tolist() == [1, 1, 1]
    sampler = NeighbourSampler(union, keys_of(3), cap=8, seed=0)
    assert lists(sampler.inside(keys_of(3))) == [[], [2], [1]]


@settings(deadline=None)
@given(element_sets(), element_sets())
def test_similarity_against_plain_counting(left, right):
    rows, columns = (
        np.repeat(np.arange(len(left)), len(right)),
        np.tile(np.arange(len(right)), len(left)),
    )
    found = shared_share(Incidence.of(left), rows, Incidence.of(right), columns)
    for value, i, j in zip(found, rows, columns, strict=True):
        ours, theirs = set(left[i]), set(right[j])
        own = len(ours) + len(theirs)
        assert value == pytest.approx(2 * len(ours & theirs) / own if own else 0.0)


def test_cosines_of_pairs_in_chunks(monkeypatch):
    monkeypatch.setattr("eventide.graphs.sampled.message_similarity.CHUNK", 3)
    random = np.random.default_rng(0)
    one, two = random.normal(size=(4, 5)).astype("f4"), random.normal(size=(6, 5)).astype("f4")
    rows, columns = random.integers(4, size=10), random.integers(6, size=10)
    found = pair_cosines(one, rows, two, columns)
    for value, i, j in zip(found, rows, columns, strict=True):
        truth = one[i] @ two[j] / np.linalg.norm(one[i]) / np.linalg.norm(two[j])
        assert value == pytest.approx(truth, abs=1e-6)


@pytest.fixture
def graph():
    sample = Sample(np.array([0, 2, 3, 3]), np.array([1, 2, 0]))
    return SampledGraph(sample, np.array([[0.5], [0.25], [2.0]], dtype="f4"))


def test_a_block_holds_the_wanted_rows_and_what_they_read(graph):
    block, sources = graph.block(np.array([1, 0, 1]))
    edges = list(
        zip(
            block.readers.tolist(),
            sources[block.sources.numpy()].tolist(),
            block.kinds[:, 0].tolist(),
            strict=True,
        )
    )
    assert edges == [
        (0, 0, 2.0), (0, 1, 1.0),
        (1, 0, 1.0), (1, 1, 0.5), (1, 2, 0.25),
        (2, 0, 2.0), (2, 1, 1.0),
    ]  # fmt: skip
    assert sources[block.own.numpy()].tolist() == [1, 0, 1]


def test_a_block_of_new_messages_reads_the_memory_and_themselves():
    sample = Sample(np.array([0, 2, 2]), np.array([4, 9]))
    block, known = outside_block(sample, np.array([[0.5], [0.25]], dtype="f4"))
    assert known.tolist() == [4, 9]
    assert block.sources.tolist() == [0, 1, 2, 3]
    assert block.readers.tolist() == [0, 0, 0, 1]
    assert block.own.tolist() == [2, 3]
    assert block.kinds[:, 0].tolist() == [0.5, 0.25, 1.0, 1.0]


def test_sums_and_softmax_of_a_block_have_the_gradients_of_plain_loops(graph):
    block, sources = graph.block(np.array([0, 1]))
    generator = torch.Generator().manual_seed(0)
    numbers = torch.randn(len(block.readers), dtype=torch.float64, generator=generator)
    values = torch.randn(len(sources), 3, dtype=torch.float64, generator=generator)
    numbers.requires_grad_()
    values.requires_grad_()

    def fast(numbers, values):
        return block.sum(block.softmax(numbers), values)

    def plain(numbers, values):
        rows = []
        for reader in range(2):
            edges = [e for e in range(len(numbers)) if block.readers[e] == reader]
            total = sum(numbers[e].exp() for e in edges)
            rows.append(sum(numbers[e].exp() / total * values[block.sources[e]] for e in edges))
        return torch.stack(rows)

    torch.testing.assert_close(fast(numbers, values), plain(numbers, values))
    assert torch.autograd.gradcheck(fast, (numbers, values))
