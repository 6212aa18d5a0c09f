from __future__ import annotations

import time

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from eventide.errors import InputError
from eventide.graphs.exact.lookup import across_shards
from eventide.graphs.incidence import Incidence
from eventide.graphs.memory import Memory
from eventide.testing.explicit_graphs import ExplicitMemory
from generated_graphs import cases, close, element_sets

pytestmark = pytest.mark.usefixtures("kernel", "looking")
new_sets = element_sets(vocabulary=16)


def read(memory, case, new, times, dtype=torch.float64):
    """Averages and gradients of a look-up, for a memory of either kind."""
    known = case.values(dtype).requires_grad_()
    own = case.values(dtype, len(new)).mul(2).requires_grad_()
    rates = case.rates(dtype, len(new)).requires_grad_()
    out = memory.lookup(Incidence.of(new), times).average(known, own, rates)
    cotangent = torch.linspace(-1, 1, out.numel(), dtype=dtype).view_as(out)
    gradients = torch.autograd.grad((out * cotangent).sum(), (known, own, rates))
    return out.detach(), *gradients


@settings(max_examples=100, deadline=None)
@given(cases(), new_sets, st.integers(-3, 3))
def test_lookups_agree_with_explicit_neighbours(case, new, shift):
    times = np.resize(case.times, len(new)) + shift
    got = read(Memory(case.incidence, case.times, case.most), case, new, times)
    wanted = read(ExplicitMemory(case.incidence, case.times), case, new, times)
    for ours, theirs in zip(got, wanted, strict=True):
        close(ours, theirs, 1e-10, least=1e-2 * case.span)


@settings(max_examples=50, deadline=None)
@given(cases(), new_sets, st.integers(-3, 3), st.integers(0, 3))
def test_lookups_of_earlier_messages_agree_with_explicit_neighbours(case, new, shift, gap):
    times = np.resize(case.times, len(new)) + shift
    got = read(Memory(case.incidence, case.times, case.most, gap), case, new, times)
    wanted = read(ExplicitMemory(case.incidence, case.times, gap), case, new, times)
    for ours, theirs in zip(got, wanted, strict=True):
        close(ours, theirs, 1e-10, least=1e-2 * case.span)


def test_neighbours_that_are_not_earlier_are_not_counted():
    memory = Memory(Incidence.of([["a"], ["a"], ["b"]]), [0, 5, 0], gap=0)
    assert memory.lookup(Incidence.of([["a"]] * 6), [5] * 6).neighbours.tolist() == [1] * 6
    assert memory.lookup(Incidence.of([["a"]]), [6]).neighbours.tolist() == [2]


def test_elements_seen_once_often_and_never():
    # pruned keys would count the first message twice and lose the fourth
    memory = Memory(Incidence.of([["a", "b"], ["a"], ["b"], ["c"]]), [0, 0, 0, 0])
    seen = memory.lookup(Incidence.of([["a", "b", "c"], ["never"], ["c", "never"]]), [0, 0, 0])
    assert seen.neighbours.tolist() == [4, 0, 1]
    out = seen.average(torch.eye(4), torch.zeros(3, 4), torch.zeros(3))
    assert torch.allclose(out, torch.tensor([[0.2] * 4, [0.0] * 4, [0, 0, 0, 0.5]]))


@settings(max_examples=25, deadline=None)
@given(cases(), new_sets)
def test_an_answer_does_not_depend_on_the_batch(case, new):
    memory = Memory(case.incidence, case.times, case.most)
    times = np.resize(case.times, len(new))
    known, own = case.values(torch.float32), case.values(torch.float32, len(new))
    rates = case.rates(torch.float32, len(new))
    sums = memory.sums(known)
    together = memory.lookup(Incidence.of(new), times).average(sums, own, rates)
    for row in range(len(new)):
        one = slice(row, row + 1)
        lookup = memory.lookup(Incidence.of(new[one]), times[one])
        close(lookup.average(sums, own[one], rates[one]), together[one], 1e-6)


@settings(max_examples=25, deadline=None)
@given(cases(), new_sets)
def test_a_memory_without_some_messages(case, new):
    """What `eventide forget` leaves: every other message, and no key that only the others had."""
    times = np.resize(case.times, len(new))
    kept = np.arange(1, len(case.sets), 2)
    left = [case.sets[row] for row in kept]
    incidence = case.incidence.take(kept).compact()
    assert len(incidence.keys) == len({name for row in left for name in row})
    own, rates = case.values(torch.float64, len(new)), case.rates(torch.float64, len(new))
    values = case.values(torch.float64)[1::2]
    less = Memory(incidence, case.times[1::2], case.most)
    wanted = ExplicitMemory(Incidence.of(left), case.times[1::2])
    close(
        less.lookup(Incidence.of(new), times).average(values, own, rates),
        wanted.lookup(Incidence.of(new), times).average(values, own, rates),
        1e-10,
    )


@settings(max_examples=40, deadline=None)
@given(cases(), new_sets, st.integers(1, 4))
def test_shards_merge_to_the_whole(case, new, count):
    times = np.resize(case.times, len(new))
    known, own = case.values(torch.float64), case.values(torch.float64, len(new))
    rates = case.rates(torch.float64, len(new))
    whole = Memory(case.incidence, case.times, case.most).lookup(Incidence.of(new), times)
    shards = []
    for first in range(count):
        rows = np.arange(first, len(case.sets), count)
        part = Memory(case.incidence.take(rows), case.times[rows], case.most)
        shards.append((part.lookup(Incidence.of(new), times), known[torch.from_numpy(rows)]))
    close(across_shards(shards, own, rates), whole.average(known, own, rates), 1e-10)


def test_times_must_match_messages():
    with pytest.raises(InputError, match="2 messages but 1 times"):
        Memory(Incidence.of([["a"], ["b"]]), [0])


def test_one_message_is_quick():
    random = np.random.default_rng(0)
    sets = [
        [f"e{word}" for word in random.zipf(1.3, random.integers(0, 5)) % 5000]
        for _ in range(5_000)
    ]
    memory = Memory(Incidence.of(sets), random.integers(0, 28, len(sets)))
    sums = memory.sums(torch.ones(len(sets), 16))
    spent = []
    for row in range(20):
        new = Incidence.of(sets[row : row + 1])
        start = time.process_time()
        memory.lookup(new, [3]).average(sums, torch.ones(1, 16), torch.zeros(1))
        spent.append(time.process_time() - start)
    assert min(spent) < 0.01  # generous: benchmarks/lookups.py measures it
