"""The figures of the tables, against counts made by hand."""

import numpy as np
import pytest

from eventide.scoring.metrics import error_auroc, score


def test_accuracy_and_macro_f1_by_hand():
    truth = ["a", "a", "a", "b", "b", "c"]
    predicted = ["a", "a", "b", "b", "c", "c"]
    scores = score(truth, predicted)
    # a: precision 1, recall 2/3 -> 4/5; b: 1/2, 1/2 -> 1/2; c: 1/2, 1 -> 2/3
    assert scores.accuracy == pytest.approx(4 / 6)
    assert scores.macro_f1 == pytest.approx((4 / 5 + 1 / 2 + 2 / 3) / 3)
    assert scores.messages == 6


def test_a_class_that_is_only_predicted_does_not_dilute_macro_f1():
    assert score(["a", "a"], ["a", "z"]).macro_f1 == pytest.approx(2 / 3)


def test_clustering_measures_ignore_names():
    scores = score([0, 0, 1, 1], [1, 1, 0, 0])
    assert scores.accuracy == 0
    assert scores.nmi == scores.ami == scores.ari == pytest.approx(1)


def test_auroc_counts_ordered_pairs():
    wrong = np.array([True, True, False, False, False])
    uncertainty = np.array([0.9, 0.3, 0.5, 0.2, 0.1])
    # of 2 x 3 pairs, (0.3, 0.5) alone is out of order
    assert error_auroc(wrong, uncertainty) == pytest.approx(5 / 6)


@pytest.mark.parametrize("wrong", [[True, True], [False, False]])
def test_auroc_is_undefined_without_both_kinds(wrong):
    assert error_auroc(np.array(wrong), np.array([0.1, 0.2])) is None
