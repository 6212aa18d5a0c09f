"""The bootstrap for runs that tested the same messages, against plain loops."""

from dataclasses import replace

import numpy as np
import pytest

from eventide.scoring.bootstrap import (
    SAME_DRAWS,
    drawn_counts,
    paired_bootstrap,
    same_messages_bootstrap,
)
from invented_regimes import invented


def by_loops(gains, scored, draws=400):
    random = np.random.default_rng(1)
    runs, messages = gains.shape
    found = []
    for _ in range(draws):
        rows = random.integers(0, messages, messages)
        found.append(
            np.mean([gains[run][rows].sum() / scored[run][rows].sum() for run in range(runs)])
        )
    return np.quantile(found, [0.025, 0.975])


@pytest.mark.parametrize("apart", [False, True])
def test_the_interval_is_that_of_plain_loops(apart):
    random = np.random.default_rng(0)
    gains = random.choice([-1.0, 0.0, 1.0], (4, 300), p=[0.1, 0.6, 0.3])
    scored = np.ones_like(gains)
    if apart:
        for run in range(4):
            scored[run, 70 * run : 70 * run + 60] = 0
    gains = gains * scored
    found = same_messages_bootstrap(gains, scored)
    assert found.difference == pytest.approx(np.mean(gains.sum(1) / scored.sum(1)))
    np.testing.assert_allclose([found.low, found.high], by_loops(gains, scored), atol=0.01)
    assert found.p_value == pytest.approx(2 / (SAME_DRAWS + 1))
    assert found.messages == 300


def test_a_run_that_says_the_same_again_adds_no_certainty():
    """The same runs ten times are no more messages, as pooling them would have it."""
    gains = np.array([[1.0] * 12 + [-1.0] * 6 + [0.0] * 82])
    once = same_messages_bootstrap(gains, np.ones_like(gains))
    often = same_messages_bootstrap(np.repeat(gains, 10, axis=0), np.ones((10, 100)))
    assert often == once
    assert once.low < 0 < once.high
    part = invented({"random": {"ce": [0.55] * 10, "ucl": [0.5] * 10}}).parts["random"]
    right = [
        [np.equal(run.outcome.truth, run.outcome.predicted) for run in part.runs[name]]
        for name in ("ce", "ucl")
    ]
    pooled, ours = paired_bootstrap(*right), part.difference("ce", "ucl").bootstrap
    assert ours.difference == pytest.approx(pooled.difference)
    ratio = (ours.high - ours.low) / (pooled.high - pooled.low)
    assert ratio == pytest.approx(10**0.5, rel=0.1)


def test_no_difference_is_none():
    assert same_messages_bootstrap(np.zeros((2, 10)), np.ones((2, 10))).p_value == 1.0


def test_counts_are_draws_with_replacement():
    counts = drawn_counts(50)
    assert (counts.sum(axis=1) == 50).all()
    assert counts.mean(axis=0) == pytest.approx(np.ones(50), abs=0.05)


def with_outcomes(part, name, change):
    runs = tuple(
        run.model_copy(update={"outcome": change(at, run.outcome)})
        for at, run in enumerate(part.runs[name])
    )
    return replace(part, runs={**part.runs, name: runs})


def test_messages_of_unseen_events_count_only_where_the_accuracy_counts_them():
    part = invented({"unseen-event": {"ce": [0.55], "ucl": [0.5]}}).parts["unseen-event"]

    def scored_apart(at, outcome):
        """The last half is of an event that was not trained on, and nobody gets it right."""
        right = round(outcome.test.accuracy * 100)
        test = outcome.test.model_copy(update={"accuracy": right / 100})
        truth, predicted = [0] * 100 + [2] * 100, [0] * right + [1] * (200 - right)
        return outcome.model_copy(update={"truth": truth, "predicted": predicted, "test": test})

    for name in ("ce", "ucl"):
        part = with_outcomes(part, name, scored_apart)
    assert part.difference("ce", "ucl").bootstrap.difference == pytest.approx(0.05)


def test_runs_that_tested_others_are_drawn_apart():
    part = invented({"random": {"ce": [0.55, 0.5], "ucl": [0.5, 0.5]}}).parts["random"]
    same = part.difference("ce", "ucl").bootstrap
    for name in ("ce", "ucl"):
        part = with_outcomes(
            part, name, lambda at, outcome: outcome.model_copy(update={"tested": str(at)})
        )
    apart = part.difference("ce", "ucl").bootstrap
    assert apart.difference == pytest.approx(same.difference)
    assert apart.messages == 2 * same.messages
