"""Choosing groups whose sizes add up to a target."""

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from eventide.data.split_draws import choose_groups


@given(st.lists(st.integers(1, 12), max_size=9), st.integers(0, 40))
def test_no_other_choice_comes_nearer(sizes, target):
    chosen = choose_groups(np.array(sizes, dtype=np.int64), target)
    assert len(set(chosen.tolist())) == len(chosen)
    total = sum(sizes[index] for index in chosen)
    sums = (sum(pick) for count in range(len(sizes) + 1) for pick in combinations(sizes, count))
    assert total == max(found for found in sums if found <= target)
