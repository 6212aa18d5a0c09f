"""Calibration: temperatures that are right, cautious with few messages, and never move an event."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from eventide.opinions.calibration import (
    DOUBTED,
    SPREAD,
    ProbabilityCalibration,
    cross_fitted,
    fold_calibrations,
    folds_of,
)


def softmax(logits):
    scaled = np.exp(logits - logits.max(axis=1, keepdims=True))
    return scaled / scaled.sum(axis=1, keepdims=True)


def drawn(messages, classes, temperature, seed=0):
    """Probabilities whose log is ``temperature`` times too large, and labels of the true ones."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(messages, classes)) * 2
    labels = (softmax(logits).cumsum(axis=1) > rng.random((messages, 1))).argmax(axis=1)
    return softmax(logits * temperature), labels


probabilities = st.integers(0, 2**32 - 1).flatmap(
    lambda seed: st.tuples(
        st.just(seed), st.integers(2, 30), st.floats(0.05, 20), st.sampled_from([1, 3, 40])
    )
)


@given(probabilities, st.floats(0.05, 20))
@settings(max_examples=60)
def test_no_temperature_moves_an_event_or_the_order_of_a_message(given_, temperature):
    seed, classes, sharpness, messages = given_
    rng = np.random.default_rng(seed)
    said = softmax(rng.normal(size=(messages, classes)) * sharpness)
    by_class = ProbabilityCalibration(temperature * np.exp(rng.normal(size=classes)), 9)
    for calibration in (by_class, ProbabilityCalibration(np.array([temperature]), 9)):
        found = calibration.apply(said)
        np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-12)
        rows = np.arange(messages)
        assert (found[rows, said.argmax(axis=1)] == found.max(axis=1)).all()
        order = np.argsort(said, axis=1)
        assert (np.diff(np.take_along_axis(found, order, axis=1), axis=1) >= -1e-15).all()


def test_an_opinion_without_evidence_stays_without():
    calibration = ProbabilityCalibration(np.array([0.3, 2.0, 1.0]), 9)
    np.testing.assert_allclose(calibration.apply(np.full((1, 3), 1 / 3)), 1 / 3)


def test_a_probability_of_zero_stays_finite():
    found = ProbabilityCalibration(np.array([3.0]), 9).apply(np.array([[1.0, 0.0]]))
    assert np.isfinite(found).all()
    assert found[0, 0] == 1


@pytest.mark.parametrize("temperature", [0.5, 2.0, 3.0])
def test_the_temperature_is_found_again(temperature):
    said, labels = drawn(4_000, 6, temperature)
    found = ProbabilityCalibration.fit(said, labels)
    assert found.kind == "global"
    assert found.temperature[0] == pytest.approx(temperature, rel=0.08)
    assert found.messages == 4_000


def test_a_fit_is_the_minimum_of_its_objective_in_plain_loops():
    said, labels = drawn(120, 4, 2.5)

    def cost(log_temperature):
        total = log_temperature**2 / (2 * SPREAD**2)
        for row, label in zip(said, labels, strict=True):
            scaled = [p ** np.exp(-log_temperature) for p in row]
            second = sorted(range(4), key=lambda each: -row[each])[1]
            total -= np.log(scaled[label] / sum(scaled))
            total -= DOUBTED / len(labels) * np.log(scaled[second] / sum(scaled))
        return total

    best = minimize_scalar(cost, bounds=(-3, 3), method="bounded", options={"xatol": 1e-6}).x
    found = ProbabilityCalibration._of_kind("global", said, labels)
    assert np.log(found.temperature[0]) == pytest.approx(best, abs=1e-4)


def test_classes_that_differ_get_temperatures_of_their_own():
    said, labels = drawn(6_000, 3, 1.0, seed=1)
    cautious, bold = ProbabilityCalibration(np.array([0.4, 1.0, 1.0]), 1), said.argmax(axis=1) == 0
    found = ProbabilityCalibration.fit(cautious.apply(said), labels)
    assert found.kind == "by class"
    assert bold.any()
    assert found.temperature[0] > 1.6 > 1.3 > found.temperature[1:].max()


def test_few_messages_hardly_move_it_and_hits_alone_never_make_certain():
    said = np.tile([0.8, 0.2], (12, 1))
    few = ProbabilityCalibration.fit(said, np.zeros(12, dtype=int))
    assert 0.3 < few.temperature[0] < 1
    many = ProbabilityCalibration.fit(np.tile([0.8, 0.2], (2_000, 1)), np.zeros(2_000, dtype=int))
    assert few.apply(said)[0, 0] < many.apply(said)[0, 0] < 1 - 1e-4
    nine = ProbabilityCalibration.fit(said[:9], np.zeros(9, dtype=int))
    assert nine.kind == "none"
    assert nine.apply(said) is said


@pytest.mark.parametrize("messages", [10, 30, 100])
def test_small_sets_do_not_hurt(messages):
    """Probabilities that are right already stay about as right, on average over draws."""
    fresh, truth = drawn(2_000, 5, 1.0, seed=99)
    rows = np.arange(len(truth))
    plain = -np.log(fresh[rows, truth]).mean()
    costs = []
    for seed in range(12):
        found = ProbabilityCalibration.fit(*drawn(messages, 5, 1.0, seed=seed))
        costs.append(-np.log(found.apply(fresh)[rows, truth]).mean())
    assert np.mean(costs) < plain + 0.02


def test_cross_fitting_never_uses_a_message_s_own_label():
    said, labels = drawn(60, 3, 2.0)
    before = cross_fitted(said, labels, "global")
    folds = folds_of(labels)
    assert set(folds) == set(range(5))
    for fold, fitted in enumerate(fold_calibrations(said, labels, "global")):
        own = folds == fold
        alone = ProbabilityCalibration._of_kind("global", said[~own], labels[~own])
        np.testing.assert_array_equal(fitted.temperature, alone.temperature)
        np.testing.assert_array_equal(before[own], alone.apply(said[own]))
    assert np.bincount(folds).tolist() == [12] * 5


def test_state_comes_back_and_a_wrong_one_is_refused():
    kept = ProbabilityCalibration(np.array([0.5, 2.0]), 40)
    again = ProbabilityCalibration.from_state(kept.state(), 2)
    np.testing.assert_array_equal(again.temperature, kept.temperature)
    assert (again.messages, again.kind) == (40, "by class")
    for broken in (np.ones(3), np.array([0.0, 1.0]), np.array([np.nan, 1.0])):
        with pytest.raises(ValueError, match="temperature"):
            ProbabilityCalibration.from_state(kept.state() | {"temperature": broken}, 2)
