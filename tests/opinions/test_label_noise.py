"""Wrong labels, against plain loops and finite differences."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventide.opinions.label_noise import LabelNoise

probabilities = st.floats(1e-6, 1 - 1e-6)
shares = st.floats(0.001, 0.5)


def in_loops(share, classes, probability):
    """The chance that the label names the class: it is right, or another class became it."""
    total = 0.0
    for true in range(classes):
        chance_of_true = probability if true == 0 else (1 - probability) / (classes - 1)
        named_zero = 1 - share if true == 0 else share / (classes - 1)
        total += chance_of_true * named_zero
    return total


@given(shares, st.integers(2, 30), probabilities)
def test_the_likelihood_sums_over_all_true_classes(share, classes, probability):
    found = LabelNoise(share, classes).likelihood(np.log([probability]))
    assert found[0] == pytest.approx(in_loops(share, classes, probability), rel=1e-9)


@given(shares, st.integers(2, 30), probabilities)
def test_slopes_are_finite_differences(share, classes, probability):
    own, step = math.log(probability), 1e-6

    def cost(share, own):
        return LabelNoise(share, classes).log_likelihood(np.array([own]))[0]

    over_own, over_share = LabelNoise(share, classes).slopes(np.array([own]))
    # exp(own) stays below 1 on both sides
    expected = (cost(share, own) - cost(share, own - step)) / step
    assert over_own[0] == pytest.approx(expected, abs=1e-3, rel=1e-3)
    expected = (cost(share + step, own) - cost(share - step, own)) / (2 * step)
    assert over_share[0] == pytest.approx(expected, abs=1e-3, rel=1e-3)


@given(shares, st.integers(2, 30), probabilities)
def test_suspect_is_a_label_more_likely_wrong_than_right(share, classes, probability):
    right, wrong = (1 - share) * probability, share * (1 - probability) / (classes - 1)
    if not math.isclose(right, wrong, rel_tol=1e-9):
        assert LabelNoise(share, classes).suspect(np.log([probability]))[0] == (wrong > right)


def test_without_noise_every_label_is_believed():
    own = np.array([0.0, -1.0, -700.0])
    noise = LabelNoise(0.0, 5)
    np.testing.assert_array_equal(noise.log_likelihood(own), own)
    np.testing.assert_array_equal(noise.slopes(own)[0], np.ones(3))
    assert not noise.suspect(own).any()
