"""Going on from a trained method: few labels of a new event are learned, older ones are kept."""

import copy

import numpy as np
import polars as pl
import pytest
import torch

from eventide.methods.warm_start import STEPS, _equal_counts, _ridge
from eventide.model import EventClassifier

QUICK = {"training__epochs": 15, "training__batch_size": 64, "encoder": "tfidf-svd:16"}


@pytest.fixture(scope="module", params=["ucl-sharp", "ucl-ec+cb", "ce"])
def subject(small_sample, request):
    """A model that knows four of five events, with cosine or linear heads; the fifth's messages."""
    fifth = small_sample["event"].value_counts().sort("count", "event")["event"][-1]
    known = small_sample.filter((pl.col("event") != fifth) & (pl.col("split") != "test"))
    test = small_sample.filter((pl.col("event") != fifth) & (pl.col("split") == "test"))
    new = small_sample.filter(pl.col("event") == fifth).drop("split")
    return EventClassifier(method=request.param, **QUICK).fit(known), new, test


def learned(subject, **options):
    """Learn five labels; return the shares of the new and of the older events that are right."""
    model, new, test = subject
    one = copy.deepcopy(model)
    one.update(new.head(5), **options)
    return one.score(new[5:]), one.score(test), one


def test_five_labels_find_most_of_a_new_event(subject):
    model, _, test = subject
    found, older, _ = learned(subject)
    assert found > 0.5
    assert older >= 0.85 * model.score(test)  # 86 messages and 16 numbers of text: 0.89


def test_the_first_weights_take_hardly_any_message_of_older_events(subject):
    model, _, test = subject
    found, older, _ = learned(subject, steps=0)
    assert found > 0.05
    assert older >= 0.95 * model.score(test)


def test_class_sizes_are_the_true_ones_after_learning(subject):
    _, _, one = learned(subject)
    counts = one.method_.objective.counts.tolist()
    assert counts == np.bincount(one.labels_[one.labels_ >= 0]).tolist()
    assert counts[-1] == 5


def test_class_sizes_come_back_after_an_error(subject):
    objective = subject[0].method_.objective
    counts = objective.counts.tolist()
    seen = []

    def stopped():
        with _equal_counts(objective):
            seen.extend(objective.counts.tolist())
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert len(set(seen)) == 1
    assert objective.counts.tolist() == counts


@pytest.mark.parametrize("centred", [True, False])
def test_ridge_regression_is_that_of_scikit_learn(centred):
    from sklearn.linear_model import Ridge

    random = np.random.default_rng(0)
    values, own = random.normal(size=(40, 6)) + 1, np.arange(40) < 5
    target = np.where(own, 9.0, 2.0)
    share = np.where(own, 0.5 / 5, 0.5 / 35)
    middle = share @ values if centred else np.zeros(6)
    strength = 0.1 * (share[:, None] * (values - middle) ** 2).sum(axis=0).mean()
    other = Ridge(alpha=strength, fit_intercept=centred).fit(values, target, sample_weight=share)
    tensors = (torch.from_numpy(each) for each in (values, target, own))
    found, constant = _ridge(*tensors, centred=centred)
    np.testing.assert_allclose(found.numpy(), other.coef_, atol=1e-6)
    np.testing.assert_allclose(float(constant), other.intercept_, atol=1e-6)


def test_the_steps_are_the_same_everywhere():
    """Models and the command line load slowly, and so do not read the number from here."""
    from inspect import signature

    from eventide.cli.update import update

    for each in (EventClassifier.update, update):
        assert signature(each).parameters["steps"].default == STEPS
