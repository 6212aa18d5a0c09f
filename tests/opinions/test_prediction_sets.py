"""Prediction sets: coverage on exchangeable messages, whoever shares a limit; never empty."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eventide.errors import BadSetting
from eventide.opinions.prediction_sets import KINDS, PredictionSets, clusters_of, limit_of


def drawn(rng, messages, sizes):
    """Messages of classes of these sizes, rare ones harder to tell; not calibrated at all."""
    labels = rng.choice(len(sizes), size=messages, p=np.array(sizes) / sum(sizes))
    logits = rng.normal(size=(messages, len(sizes)))
    logits[np.arange(messages), labels] += np.linspace(3, 0.5, len(sizes))[labels]
    scaled = np.exp(2 * logits)
    return scaled / scaled.sum(axis=1, keepdims=True), labels


def covered(sets, probability, labels):
    inside = sets.contains(probability, probability.argmax(axis=1))
    return inside[np.arange(len(labels)), labels]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("coverage", [0.8, 0.95])
def test_sets_cover_the_share_that_was_asked_for(kind, coverage):
    """On average over draws of the calibrating messages; a little more, for none is empty."""
    rng, shares = np.random.default_rng(1), []
    sizes = [40, 20, 10, 5, 3, 2, 1, 1]
    for _ in range(40):
        sets = PredictionSets.fit(*drawn(rng, 300, sizes), coverage, kind)
        shares.append(covered(sets, *drawn(rng, 300, sizes)).mean())
    assert coverage - 0.02 < np.mean(shares) < coverage + 0.1


def test_limits_of_their_own_cover_every_large_class_and_each_cluster():
    rng, sizes = np.random.default_rng(2), [40, 30, 8, 7, 8, 7]
    shares = {"clustered": [], "marginal": []}
    for _ in range(60):
        calibrating, fresh = drawn(rng, 300, sizes), drawn(rng, 600, sizes)
        cluster = clusters_of(np.bincount(calibrating[1], minlength=6), 0.9, "clustered")
        assert len(set(cluster)) >= 3
        with_rarest = cluster[fresh[1]] == cluster[5]
        for kind, found in shares.items():
            inside = covered(PredictionSets.fit(*calibrating, 0.9, kind), *fresh)
            found.append([inside[fresh[1] == 0].mean(), inside[with_rarest].mean()])
    assert (np.mean(shares["clustered"], axis=0) > 0.88).all()
    assert np.mean(shares["marginal"], axis=0)[1] < 0.8  # one limit for all leaves rare events out


@given(st.integers(0, 2**32 - 1), st.sampled_from(KINDS), st.floats(0.01, 0.99), st.integers(0, 80))
@settings(max_examples=60)
def test_no_set_is_empty_and_the_assigned_event_comes_first(seed, kind, coverage, messages):
    rng = np.random.default_rng(seed)
    said, labels = drawn(rng, messages, [9, 3, 1, 1])
    fresh, _ = drawn(rng, 20, [9, 3, 1, 1])
    assigned = rng.integers(0, 4, 20)  # even one that is not the most probable
    sets = PredictionSets.fit(said, labels, coverage, kind)
    members, inside = sets.members(fresh, assigned), sets.contains(fresh, assigned)
    for row, (each, event) in enumerate(zip(members, assigned, strict=True)):
        assert each[0] == event
        assert sorted(each) == np.flatnonzero(inside[row]).tolist()
        rest = fresh[row, each[1:]]
        assert (np.diff(rest) <= 0).all()


@given(st.lists(st.floats(0, 1), max_size=60), st.floats(0.05, 0.99))
def test_a_limit_against_counting(own, coverage):
    """The largest of the values that leaves enough at or above it, one new message counted."""
    found = limit_of(np.array(own), coverage)
    needed = (len(own) + 1) * coverage - 1e-9
    fitting = [each for each in own if sum(other >= each for other in own) >= needed]
    assert found == max(fitting, default=0.0)


def test_too_few_messages_make_every_event_possible():
    sets = PredictionSets.fit(np.array([[0.9, 0.1]] * 5), np.zeros(5, dtype=int), 0.9)
    assert sets.contains(np.array([[0.99, 0.01]]), np.array([0])).all()


@given(st.lists(st.integers(0, 60), min_size=1, max_size=30), st.sampled_from([0.8, 0.9, 0.95]))
def test_clusters_have_enough_messages_and_hold_classes_of_like_size(counts, coverage):
    counts, enough = np.array(counts), 2 / (1 - coverage) - 1e-9
    cluster = clusters_of(counts, coverage, "clustered")
    for each in set(cluster.tolist()) - {-1}:
        assert counts[cluster == each].sum() >= enough
    assert (cluster == -1).all() == (counts.sum() < enough)
    assert (cluster == -1).any() == (cluster == -1).all()
    ranked = cluster[np.argsort(-counts, kind="stable")]
    assert (np.diff(ranked) >= 0).all()  # nobody shares with a class that others stand between
    large = counts >= enough
    assert len(set(cluster[large])) == large.sum()
    own = clusters_of(counts, coverage, "class")
    assert ((own >= 0) == (counts >= enough)).all()
    assert (clusters_of(counts, coverage, "marginal") == -1).all()


@pytest.mark.parametrize("coverage", [0, 1, -0.1, 1.5, float("nan")])
def test_a_coverage_that_is_no_share_is_refused(coverage):
    with pytest.raises(BadSetting, match="coverage"):
        PredictionSets.fit(np.ones((1, 1)), np.zeros(1, dtype=int), coverage)


def test_an_unknown_kind_is_refused():
    with pytest.raises(BadSetting, match="marginal, class, clustered"):
        PredictionSets.fit(np.ones((1, 1)), np.zeros(1, dtype=int), 0.9, "margin")
