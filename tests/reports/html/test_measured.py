"""What is measured on labelled messages, against plain counting."""

import numpy as np
import pytest

from eventide.reports.html.measured import STEPS, Measured
from eventide.reports.html.review import ReviewRule


def measured_of(truth, predicted, doubt, classes=2):
    events = tuple("abcdef"[: max(classes, max(truth) + 1)])
    return Measured("some", events, classes, np.array(truth), np.array(predicted), np.array(doubt))


def test_confusion_counts_every_pair_and_no_evidence():
    found = measured_of([0, 0, 1, 2], [0, 1, -1, 0], [0.1, 0.6, 0.9, 0.2])
    assert found.confusion.tolist() == [[1, 1, 0], [0, 0, 1], [1, 0, 0]]
    assert found.wrong.tolist() == [False, True, True, True]
    assert found.scores.accuracy == 0.25


def test_kept_messages_are_those_below_the_threshold():
    found = measured_of([0, 0, 1, 1], [0, 1, 1, 0], [0.1, 0.3, 0.3, 0.8])
    assert found.kept(ReviewRule(0.3, "")) == (0.25, 0.0)
    assert found.kept(ReviewRule(0.5, "")) == (0.75, pytest.approx(1 / 3))
    assert found.kept(ReviewRule(0.0, "")) == (0.0, 0.0)


def test_a_long_curve_is_thinned_and_keeps_its_ends():
    generator = np.random.default_rng(0)
    doubt = generator.random(500)
    truth = np.zeros(500, int)
    found = measured_of(truth, (generator.random(500) < doubt).astype(int), doubt)
    curve = found.risk_coverage()
    assert len(curve) == STEPS
    assert curve[-1][0] == 1.0
    assert curve[-1][1] == pytest.approx(found.wrong.mean())
    assert [point[0] for point in curve] == sorted(point[0] for point in curve)
