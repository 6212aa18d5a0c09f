"""Samplers: who comes how often, decided by seed and epoch alone."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from eventide.networks.settings import NetworkSettings
from eventide.training.batches import (
    class_aware_batches,
    class_balanced_batches,
    shuffled_batches,
)

ROWS = np.arange(100, 160)
LABELS = np.repeat([0, 1, 2, 3], [40, 14, 5, 1])


def label_of(rows):
    return LABELS[np.searchsorted(ROWS, rows)]


@given(st.integers(1, 70), st.integers(0, 5), st.integers(1, 9))
@settings(max_examples=30, deadline=None)
def test_shuffled_batches_hold_every_row_once(size, seed, epoch):
    batches = list(shuffled_batches(ROWS, LABELS, size, seed, epoch))
    assert sorted(np.concatenate(batches)) == ROWS.tolist()
    assert {len(batch) for batch in batches[:-1]} <= {size}


@given(st.integers(1, 70), st.integers(1, 5), st.integers(0, 5), st.integers(1, 9))
@settings(max_examples=30, deadline=None)
def test_class_aware_batches_are_full_and_as_many_as_shuffled_ones(size, together, seed, epoch):
    batches = list(class_aware_batches(ROWS, LABELS, size, seed, epoch, together))
    assert len(batches) == len(list(shuffled_batches(ROWS, LABELS, size, seed, epoch)))
    assert {len(batch) for batch in batches} == {size}
    assert set(np.concatenate(batches)) <= set(ROWS)


@pytest.mark.parametrize("together", [1, 4])
def test_classes_take_turns(together):
    drawn = np.concatenate(list(class_aware_batches(ROWS, LABELS, 48, 0, 1, together)))
    turns = label_of(drawn).reshape(-1, together)
    assert (turns == turns[:, :1]).all(), "a turn belongs to one class"
    rounds = turns[:, 0].reshape(-1, 4)
    assert (np.sort(rounds, axis=1) == np.arange(4)).all(), "a round visits every class once"
    assert len(np.unique(rounds, axis=0)) > 1, "rounds are shuffled anew"


def test_no_message_repeats_before_its_class_has_gone_round():
    drawn = np.concatenate(list(class_balanced_batches(ROWS, LABELS, 60, 0, 1)))
    for each in range(4):
        own = drawn[label_of(drawn) == each]
        times = [int((own == row).sum()) for row in ROWS[each == LABELS]]
        assert max(times) - min(times) <= 1


def test_small_classes_are_drawn_as_often_as_large_ones():
    drawn = np.concatenate(list(class_balanced_batches(ROWS, LABELS, 20, 0, 1)))
    assert np.bincount(label_of(drawn)).tolist() == [15, 15, 15, 15]


def test_order_and_gaps_of_the_labels_do_not_matter():
    order = np.random.default_rng(0).permutation(len(ROWS))
    drawn = np.concatenate(
        list(class_aware_batches(ROWS[order], 10 * LABELS[order] + 7, 20, 0, 1, 2))
    )
    assert sorted(np.bincount(label_of(drawn))) == [14, 14, 16, 16]


@pytest.mark.parametrize(
    "sampler",
    [
        lambda seed, epoch: shuffled_batches(ROWS, LABELS, 16, seed, epoch),
        lambda seed, epoch: class_balanced_batches(ROWS, LABELS, 16, seed, epoch),
        lambda seed, epoch: class_aware_batches(ROWS, LABELS, 16, seed, epoch),
    ],
)
def test_seed_and_epoch_decide_and_nothing_else(sampler):
    def drawn(seed, epoch):
        return np.concatenate(list(sampler(seed, epoch))).tolist()

    np.random.default_rng(5).random(3)
    assert drawn(1, 2) == drawn(1, 2)
    assert drawn(1, 2) != drawn(1, 3)
    assert drawn(1, 2) != drawn(2, 2)


def test_a_message_twice_in_a_batch_counts_twice(make_runner):
    """Class-aware batches repeat messages; neighbourhoods must not take rows for distinct."""
    runner = make_runner(NetworkSettings(layers=(12, 10), head_hidden=8))

    def gradients(rows):
        runner.network.zero_grad()
        outputs = runner.learn(np.array(rows))
        values = sum(
            (each.logits.square().sum(dim=1) + each.embeddings.square().sum(dim=1))
            for each in outputs.values()
        )
        values.sum().backward()
        return values.detach(), [p.grad.clone() for p in runner.network.parameters()]

    once, alone = gradients([9, 4])
    twice, both = gradients([4, 9, 4])
    _, first = gradients([4])
    torch.testing.assert_close(twice, once[[1, 0, 1]])
    for whole, pair, single in zip(both, alone, first, strict=True):
        torch.testing.assert_close(whole, pair + single)
