"""Which epoch is kept, how long training goes on, and how steps are counted."""

import numpy as np
import pytest

from eventide.model import EventClassifier
from eventide.training.checkpoints import RANKS, Best, Progress

QUICK = {
    "method": "ce",
    "preset": "paper",
    "encoder": "tfidf-svd:16",
    "network__layers": (8, 8),
    "network__head_hidden": 8,
    "training__learning_rate": 0.05,
}


def fitted(messages, **settings):
    return EventClassifier(**QUICK, **{f"training__{k}": v for k, v in settings.items()}).fit(
        messages
    )


def best_of(history, rule):
    """The epoch of the best row, by a plain loop; of equal ones the earlier."""
    best = history[0]
    for row in history[1:]:
        if RANKS[rule](row) > RANKS[rule](best):
            best = row
    return int(best["epoch"])


@pytest.mark.parametrize("rule", ["accuracy", "nll"])
def test_the_kept_epoch_is_the_best_by_the_rule(rule, small_sample):
    model = fitted(small_sample, epochs=12, select_by=rule)
    assert model.best_epoch_ == best_of(model.history_, rule)
    if rule == "nll":
        nlls = [row["validation_nll"] for row in model.history_]
        assert model.best_epoch_ == int(np.argmin(nlls)) + 1


def test_the_validation_nll_is_that_of_the_predicted_probabilities(small_sample):
    """Against plain loops over classes, with probabilities of the saved model."""
    model = fitted(small_sample, epochs=3, select_by="nll")
    validation = small_sample.filter(split="val")
    frame = model.intake(validation).messages
    probability = model.inference.uncalibrated(frame, model.inference.match(frame)).probability
    names = [str(name) for name in model.classes_]
    costs = {}
    for row, event in zip(probability, validation["event"], strict=True):
        costs.setdefault(event, []).append(-np.log(row[names.index(event)]))
    expected = np.mean([np.mean(each) for each in costs.values()])
    assert model.history_[model.best_epoch_ - 1]["validation_nll"] == pytest.approx(
        expected, rel=1e-4
    )


def test_an_epoch_has_at_least_so_many_steps(small_sample):
    training = small_sample.filter(split="train").height
    assert training < 1500
    plain, more = fitted(small_sample, epochs=2), fitted(small_sample, epochs=2, epoch_steps=3)
    assert [row["steps"] for row in plain.history_] == [1, 2]
    assert [row["steps"] for row in more.history_] == [3, 6]


def test_small_sets_get_more_epochs(small_sample):
    model = fitted(small_sample, epochs=2, least_steps=14, epoch_steps=3)
    assert [row["epoch"] for row in model.history_] == [1, 2, 3, 4, 5]
    assert {row["epochs"] for row in model.history_} == {5}


def stale_after(nlls, patience, steps, step=4):
    """Offer epochs of so many steps until training would stop; say after which."""
    progress = Progress(None, None, None, None, RANKS["nll"], Best())
    for epoch, nll in enumerate(nlls, start=1):
        row = {"epoch": epoch, "steps": step * epoch, "validation_nll": nll}
        progress.history.append(row)
        progress.best.offer(epoch, progress.rank(row), dict)
        if progress.stale(patience, steps):
            return epoch
    return None


def test_patience_counts_epochs_and_steps():
    falls = [0.9, 0.8, 0.7, *[0.71] * 20]
    assert stale_after(falls, patience=2, steps=0) == 5
    assert stale_after(falls, patience=2, steps=40) == 13
    assert stale_after(falls, patience=15, steps=4) == 18
    assert stale_after(falls, patience=None, steps=0) is None


def test_a_score_that_only_creeps_is_no_rise():
    creeps = [0.9, 0.8] + [0.8 - 0.00001 * at for at in range(1, 20)]
    assert stale_after(creeps, patience=5, steps=0) == 7
