"""Densities of events over time, against plain loops."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from eventide.novelty.event_times import ANYWHERE, FIRST_SCALE, GROWTH, MOST_MOMENTS, EventTimes

TIMES = st.lists(st.tuples(st.integers(-40, 300), st.integers(0, 2)), min_size=1, max_size=12)


def plain(messages, time):
    """The density of each of three classes at a time, message by message."""
    times = [each for each, _ in messages]
    span = max(times) - min(times) + 1
    scales = [FIRST_SCALE]
    while scales[-1] <= span:
        scales.append(scales[-1] * GROWTH)
    found = []
    for label in range(3):
        own = [each for each, of in messages if of == label]
        total = ANYWHERE / span
        for each in own:
            total += sum(math.exp(-abs(time - each) / s) / (2 * s) for s in scales) / len(scales)
        found.append(total / (len(own) + ANYWHERE))
    return found


@given(TIMES, st.integers(-60, 400))
def test_density_is_the_mean_of_kernels(messages, time):
    times, labels = (np.array(each) for each in zip(*messages, strict=True))
    found = np.exp(EventTimes(times, labels, classes=3).log_density(np.array([time])))[0]
    np.testing.assert_allclose(found, plain(messages, time), rtol=1e-9)


@given(TIMES, st.integers(1, 50))
def test_events_that_were_never_written_about_are_equal(messages, step):
    times, labels = (np.array(each) for each in zip(*messages, strict=True))
    found = EventTimes(times, labels, classes=5).log_density(times + step)
    np.testing.assert_array_equal(found[:, 3], found[:, 4])


def test_it_is_sharp_near_and_mild_far():
    times, labels = np.array([0] * 50 + [100] * 50), np.array([0] * 50 + [1] * 50)
    found = EventTimes(times, labels, classes=2).log_density(np.array([1, 99, 10_000]))
    gain = found[:, 0] - found[:, 1]
    assert gain[0] > 3
    assert gain[1] < -3
    assert abs(gain[2]) < 1


def test_seconds_over_years_are_few_moments():
    times = np.arange(0, 10**8, 10**4)
    found = EventTimes(times, np.zeros(len(times), dtype=np.int64), classes=1)
    assert len(found._moments) <= MOST_MOMENTS
    assert np.isfinite(found.log_density(np.array([-5, 10**9]))).all()
