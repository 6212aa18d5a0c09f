"""Baselines: each is what its name says, and looks at nothing else."""

from datetime import UTC, datetime, timedelta

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from eventide.errors import InputError
from eventide.methods.baselines.logistic_regression import LinearProbe
from eventide.methods.baselines.nearest_in_time import nearest_votes
from eventide.model import EventClassifier

START = datetime(2024, 3, 1, tzinfo=UTC)


def test_a_vocabulary_needs_words():
    messages = pl.DataFrame(
        {"id": ["a", "b"], "text": ["flood", "🔥"], "created_at": [START] * 2, "event": ["x", "y"]}
    )
    with pytest.raises(InputError, match="no word occurs in two"):
        EventClassifier(method="lr-tfidf", encoder="wordllama").fit(messages)


@pytest.mark.parametrize("strength", [0.05, 1.0, 20.0])
@pytest.mark.parametrize("classes", [2, 4])
def test_the_probe_is_balanced_logistic_regression(classes, strength):
    random = np.random.default_rng(1)
    labels = np.minimum(random.geometric(0.4, 80) - 1, classes - 1)
    vectors = random.normal(size=(80, 5)) + labels[:, None]
    weight = 80 / (classes * np.bincount(labels))[labels]
    oracle = LogisticRegression(C=strength, max_iter=1000)
    oracle.fit(vectors, labels, sample_weight=weight)
    logits = LinearProbe.fit(vectors, labels, strength).logits(vectors).astype(np.float64)
    probability = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(probability, oracle.predict_proba(vectors), atol=1e-4)


@pytest.mark.parametrize("method", ["lr-tfidf", "lr-encoder", "twitter-lda"])
def test_every_probe_is_as_strong_as_the_setting_says(small_sample, method):
    quick = {"method": method, "encoder": "tfidf-svd:8"}
    models = [
        EventClassifier(training__probe_strength=strength, **quick).fit(small_sample)
        for strength in (0.01, 1.0)
    ]
    weak, strong = (np.linalg.norm(each.method_.probe.weights) for each in models)
    assert weak < 0.5 * strong


@given(
    times=st.lists(st.integers(0, 60), min_size=1, max_size=30, unique=True),
    wanted=st.lists(st.integers(-5, 65), min_size=1, max_size=5),
)
def test_the_nearest_in_time_decides(times, wanted):
    times = np.sort(np.array(times))
    labels = times % 3
    counts = np.array([30, 20, 10])
    votes = nearest_votes(np.array(wanted), times, labels, counts)
    np.testing.assert_allclose(votes.sum(axis=1), 1)
    for place, when in enumerate(wanted):
        nearest = min(times, key=lambda time: (abs(time - when), counts[time % 3]))
        assert votes[place].argmax() == nearest % 3


def test_nearest_in_time_tells_hours_of_a_day_apart():
    frame = pl.DataFrame(
        {
            "id": [str(row) for row in range(40)],
            "text": ["same words everywhere"] * 40,
            "event": ["a"] * 20 + ["b"] * 20,
            "created_at": [
                START + timedelta(hours=row // 20, seconds=row % 20) for row in range(40)
            ],
        }
    )
    model = EventClassifier(method="nearest-in-time", encoder="wordllama").fit(frame)
    new = frame.with_columns(
        id=pl.lit("new ") + pl.col("id"), created_at=pl.col("created_at") + pl.duration(minutes=5)
    )
    assert (model.predict(new) == frame["event"].to_numpy()).all()


def test_baselines_learn_the_sample(small_sample):
    test = small_sample.filter(pl.col("split") == "test")
    for method, least in {"lr-tfidf": 0.8, "lr-encoder": 0.8, "nearest-in-time": 0.6}.items():
        model = EventClassifier(method=method, encoder="wordllama").fit(small_sample)
        assert model.score(test) > least, method
        assert len(model.history_) == 1


def test_a_start_leads_to_the_same_optimum_with_another_class():
    random = np.random.default_rng(0)
    labels = random.integers(0, 4, 300)
    vectors = random.normal(size=(300, 8)) + np.eye(4, 8)[labels] * 2
    older = LinearProbe.fit(vectors[labels < 3], labels[labels < 3])
    plain = LinearProbe.fit(vectors, labels)
    found = LinearProbe.fit(vectors, labels, start=older)
    np.testing.assert_allclose(found.weights, plain.weights, atol=2e-3)
    assert older.of(np.array([3])).bias.tolist() == [0.0]
