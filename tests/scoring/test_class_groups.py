"""Equal-width thirds of class uncertainty, and scores by group."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventide.errors import InputError
from eventide.scoring.class_groups import GROUPS, class_groups, group_scores

finite = st.floats(0, 1, allow_subnormal=False)


def test_thirds_have_equal_width_and_edges_belong_to_the_certain_side():
    groups = class_groups(list("abcdefg"), [0.0, 0.29, 0.3, 0.31, 0.6, 0.61, 0.9])
    assert groups.edges == pytest.approx((0.3, 0.6))
    assert groups.members("certain") == ["a", "b", "c"]
    assert groups.members("middle") == ["d", "e"]
    assert groups.members("uncertain") == ["f", "g"]


def test_classes_that_are_equally_uncertain_are_all_certain():
    assert class_groups([0, 1], [0.5, 0.5]).sizes() == {"certain": 2, "middle": 0, "uncertain": 0}


@given(st.lists(finite, min_size=1, max_size=120))
def test_every_class_has_one_group_and_order_is_kept(values):
    groups = class_groups(range(len(values)), values)
    assert sum(groups.sizes().values()) == len(values)
    ranks = np.array([GROUPS.index(name) for name in groups.group])[np.argsort(values)]
    assert (np.diff(ranks) >= 0).all()
    if max(values) - min(values) > 1e-9:
        assert groups.group[int(np.argmax(values))] == "uncertain"
        assert groups.group[int(np.argmin(values))] == "certain"


@pytest.mark.parametrize("values", [[0.1], [0.1, float("nan")], []])
def test_one_finite_value_per_class_is_needed(values):
    with pytest.raises(InputError, match="one finite uncertainty each"):
        class_groups(["a", "b"] if values else [], values)


def test_scores_average_classes_not_messages():
    groups = class_groups(["a", "b", "c"], [0.1, 0.1, 0.9])
    truth = ["a", "a", "a", "b", "c", "c"]
    predicted = ["a", "a", "b", "b", "a", "c"]
    certain, middle, uncertain = group_scores(groups, truth, predicted)
    assert certain.accuracy == pytest.approx((2 / 3 + 1) / 2)
    assert certain.f1 == pytest.approx((2 / 3 + 2 / 3) / 2)  # a: 2 of 3 found, 2 of 3 true
    assert (certain.classes, certain.messages) == (2, 4)
    assert (middle.classes, middle.messages, middle.accuracy, middle.f1) == (0, 0, None, None)
    assert uncertain.accuracy == pytest.approx(0.5)
    assert uncertain.f1 == pytest.approx(2 / 3)


def test_a_class_without_messages_is_counted_but_not_averaged():
    groups = class_groups(["a", "b", "c"], [0.1, 0.1, 0.9])
    certain, _, uncertain = group_scores(groups, ["a"], ["a"])
    assert (certain.classes, certain.messages, certain.accuracy) == (2, 1, 1.0)
    assert (uncertain.classes, uncertain.accuracy) == (1, None)
