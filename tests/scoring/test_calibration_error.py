"""Calibration errors and proper scores against plain loops and scikit-learn."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss, log_loss

from eventide.scoring.calibration_error import (
    brier_score,
    classwise_calibration_error,
    doubt_of,
    expected_calibration_error,
    mean_nll,
    reliability,
)


def drawn(seed, messages, classes):
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(messages, classes)) * 2
    probability = np.exp(logits)
    probability /= probability.sum(axis=1, keepdims=True)
    return rng.integers(0, classes, messages), probability


cases = st.tuples(st.integers(0, 2**32 - 1), st.integers(1, 50), st.integers(2, 6))


def loops_ece(confidence, right, bins=15):
    total = 0.0
    for index in range(bins):
        low, high = index / bins, (index + 1) / bins
        inside = [k for k, c in enumerate(confidence) if low < c <= high or (c == 0 == index)]
        if inside:
            said = sum(confidence[k] for k in inside) / len(inside)
            happened = sum(bool(right[k]) for k in inside) / len(inside)
            total += len(inside) / len(confidence) * abs(said - happened)
    return total


@given(cases)
def test_calibration_errors_against_loops(case):
    truth, probability = drawn(*case)
    confidence, right = probability.max(axis=1), probability.argmax(axis=1) == truth
    assert expected_calibration_error(confidence, right) == pytest.approx(
        loops_ece(confidence, right), abs=1e-12
    )
    expected = np.mean(
        [loops_ece(probability[:, c], truth == c) for c in range(probability.shape[1])]
    )
    assert classwise_calibration_error(truth, probability) == pytest.approx(expected, abs=1e-12)


@given(cases)
def test_proper_scores_against_loops(case):
    truth, probability = drawn(*case)
    squares = [
        sum((p - (c == label)) ** 2 for c, p in enumerate(row))
        for row, label in zip(probability, truth, strict=True)
    ]
    assert brier_score(truth, probability) == pytest.approx(np.mean(squares))
    logs = [-math.log(row[label]) for row, label in zip(probability, truth, strict=True)]
    assert mean_nll(truth, probability) == pytest.approx(np.mean(logs))
    others = [
        sum(p for c, p in enumerate(row) if c != label)
        for row, label in zip(probability, truth, strict=True)
    ]
    np.testing.assert_allclose(doubt_of(probability, truth), others)


def test_they_are_scikit_learn_s():
    truth, probability = drawn(5, 400, 2)
    assert mean_nll(truth, probability) == pytest.approx(log_loss(truth, probability))
    assert brier_score(truth, probability) == pytest.approx(
        2 * brier_score_loss(truth, probability[:, 1])
    )
    happened, said = calibration_curve(truth == 1, probability[:, 1], n_bins=15)
    curve = reliability(probability[:, 1], truth == 1)
    np.testing.assert_allclose(curve.said, said)
    np.testing.assert_allclose(curve.happened, happened)
    assert curve.messages.sum() == 400


def test_an_event_outside_the_classes_had_no_probability():
    assert brier_score(np.array([2]), np.array([[1.0, 0.0]])) == 2


def test_nobody_has_no_error():
    nobody = np.zeros(0)
    assert expected_calibration_error(nobody, nobody.astype(bool)) == 0
    assert mean_nll(nobody.astype(int), np.zeros((0, 2))) == 0
    assert brier_score(nobody.astype(int), np.zeros((0, 2))) == 0
