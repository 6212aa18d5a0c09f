from __future__ import annotations

import numpy as np
from hypothesis import given, settings

from eventide.graphs.exact.index_building import closed_bucket_index
from eventide.graphs.incidence import Incidence
from generated_graphs import cases


@settings(max_examples=60, deadline=None)
@given(cases())
def test_every_reader_comes_once_and_those_of_a_profile_follow_each_other(case):
    readers = closed_bucket_index(case.incidence, case.times, case.most, case.rare).readers
    order = readers.together()
    assert sorted(order.tolist()) == list(range(len(case.sets)))
    profile = readers.profile[order]
    changes = int((np.diff(profile) != 0).sum())
    assert changes == len(np.unique(profile)) - 1


def test_readers_of_the_most_popular_block_come_first():
    sets = [["rare"], ["hot"], ["rare", "hot"], ["hot"], ["rare"], ["hot"], []]
    readers = closed_bucket_index(Incidence.of(sets), np.zeros(7, dtype=np.int64), rare=0).readers
    order = readers.together().tolist()
    assert set(order[:4]) == {1, 2, 3, 5}
    assert set(order[4:6]) == {0, 4}
