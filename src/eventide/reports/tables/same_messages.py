"""A paired bootstrap for runs that all tested the same messages, as regimes do.

`scoring.bootstrap.paired_bootstrap` draws messages anew for every run. Where runs differ in the
seed alone that counts a message once per run, and intervals come out too narrow by about the root
of the number of runs. Here a draw takes the same messages for all runs.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from eventide.experiments.results import Difference, Results
from eventide.experiments.run_log import Outcome
from eventide.scoring.bootstrap import Bootstrap, interval

Floats = NDArray[np.float64]
DRAWS = 10_000
MOST_BYTES = 200_000_000
"""Room for the draws, which are kept: with more than 20,000 messages there are fewer draws."""
AT_ONCE = 500
"""Draws that are multiplied at a time, which bounds the memory."""


def difference_in(results: Results, variant: str, reference: str) -> Difference | None:
    """Compare accuracies in one regime on the seeds that both finished; None where there is none.

    As `Results.difference`, but each test message is drawn once for all runs, and messages that
    the accuracy leaves out (of events that were not trained on) are left out here too.
    """
    found = results.difference(variant, reference)
    if found is None:
        return None
    theirs = {run.seed: run.outcome for run in results.runs[reference]}
    pairs = [
        (run.outcome, other)
        for run in results.runs[variant]
        if run.outcome is not None and (other := theirs.get(run.seed)) is not None
    ]
    if len({one.tested for one, _ in pairs}) > 1:
        return found  # other messages in every run: those of one run say nothing of the next
    gains = np.array([_right(one) - _right(other) for one, other in pairs])
    scored = np.array([_scored(one) for one, _ in pairs])
    return replace(found, bootstrap=same_messages_bootstrap(gains, scored))


def same_messages_bootstrap(gains: Floats, scored: Floats) -> Bootstrap:
    """Return the mean over runs of the accuracies' difference, with its interval and p-value.

    ``gains`` [runs, messages] is 1 where ours alone is right, -1 where theirs alone is;
    ``scored`` [runs, messages] is 1 where a message counts.

    >>> same_messages_bootstrap(np.ones((3, 50)), np.ones((3, 50))).low
    1.0
    """
    gains = gains * scored
    if (scored == scored[0]).all():  # the mean over runs is a value of each message
        gains, weights = gains.mean(axis=0, keepdims=True), scored[:1]
    else:
        weights = scored
    value = float((gains.sum(axis=1) / weights.sum(axis=1)).mean())
    counts = drawn_counts(gains.shape[1])
    draws = len(counts)
    drawn = np.empty(draws)
    for start in range(0, draws, AT_ONCE):
        part = counts[start : start + AT_ONCE].astype(np.float64)
        drawn[start : start + AT_ONCE] = _means(part @ gains.T, part @ weights.T)
    found = interval(value, drawn)
    beyond = min(int((drawn <= 0).sum()), int((drawn >= 0).sum()))
    p_value = min(1.0, 2 * (beyond + 1) / (draws + 1))
    return Bootstrap(found.value, found.low, found.high, p_value, gains.shape[1])


@lru_cache(maxsize=2)
def drawn_counts(messages: int) -> NDArray[np.uint8]:
    """Return how often each message is in each draw [draws, messages]; the same for all methods."""
    random = np.random.default_rng(0)
    counts = np.empty((min(DRAWS, MOST_BYTES // messages), messages), dtype=np.uint8)
    for row in counts:
        row[:] = np.bincount(random.integers(0, messages, messages), minlength=messages)
    return counts


def _means(gained: Floats, counted: Floats) -> Floats:
    """Mean over runs; a run of which a draw holds nothing adds nothing."""
    shares: Floats = np.divide(gained, counted, out=np.zeros_like(gained), where=counted > 0)
    return np.asarray(shares.mean(axis=1))


def _right(outcome: Outcome) -> Floats:
    return np.equal(outcome.truth, outcome.predicted).astype(np.float64)


def _scored(outcome: Outcome) -> Floats:
    """Tell which messages the run's accuracy is of: those of known events, or all."""
    known = np.less(outcome.truth, outcome.classes)
    apart = known.any() and np.isclose(_right(outcome)[known].mean(), outcome.test.accuracy)
    return known.astype(np.float64) if apart else np.ones(len(known))
