"""Row 11: a message without any evidence counts as wrong in every figure, and only there."""

import numpy as np
import polars as pl
import pytest
import torch

from eventide.experiments.run import figures
from eventide.methods.method import together
from eventide.model import EventClassifier

QUICK = {"encoder": "tfidf-svd:16", "training__epochs": 2, "training__batch_size": 64}


@pytest.fixture(scope="module")
def mute(small_sample):
    """A model whose heads find evidence for nothing."""
    model = EventClassifier(method="ucl", preset="paper", **QUICK).fit(small_sample)
    with torch.no_grad():
        for head in model.method_.runner.network.heads:
            head.output.weight.zero_()
            head.output.bias.fill_(-1.0)
    return model


@pytest.fixture(scope="module")
def test_rows(small_sample):
    return small_sample.filter(pl.col("split") == "test")


@pytest.mark.parametrize("as_new", [False, True])
def test_predict_falls_back_to_the_most_frequent_event(mute, test_rows, as_new):
    """Row 11: an event must be named, and the uncertainty says what it is worth."""
    counts = np.bincount(mute.labels_[mute.labels_ >= 0])
    frequent = mute.classes_[counts.argmax()]
    assert set(mute.predict(test_rows, as_new=as_new)) == {frequent}
    assert (mute.opinions(test_rows, as_new=as_new)["uncertainty"] == 1).all()


def test_all_figures_count_it_as_wrong(mute, test_rows):
    """Row 11: validation did, the test figures did not."""
    frequent = mute.predict(test_rows)[0]
    assert (test_rows["event"] == frequent).any()
    assert mute.score(test_rows) == 0
    rows = mute.remembered_rows(mute.intake(test_rows).messages)
    judged = mute.method_.predict(rows)
    assert judged.undecided.all()
    assert (judged.scored_as == -1).all()
    truth = np.searchsorted(mute.classes_, test_rows["event"].to_numpy().astype(str))
    found = figures(truth, judged, np.bincount(truth))
    assert (found.accuracy, found.macro_f1) == (0, 0)
    assert found.uncertainty_right is None


def test_a_run_stores_no_prediction_for_it(small_sample, monkeypatch, tmp_path):
    """Row 11: so that every table, test and claim made from the runs follows the same rule."""
    from eventide.experiments import choose, compare
    from eventide.methods.trained import MultiViewMethod

    predict = MultiViewMethod.predict

    def muted(self, rows):
        with torch.no_grad():
            for head in self.runner.network.heads:
                head.output.weight.zero_()
                head.output.bias.fill_(-1.0)
        return predict(self, rows)

    monkeypatch.setattr(MultiViewMethod, "predict", muted)
    results = compare(
        small_sample, choose("ucl").variants, [0], out=tmp_path, split="proportional",
        encoder="tfidf-svd:16", preset="paper", workers=1, changes={"training.epochs": 1},
    )  # fmt: skip
    outcome = results.outcomes("ucl")[0]
    assert set(outcome.predicted) == {-1}
    assert outcome.test.accuracy == 0


def test_evidence_decides(small_sample, test_rows):
    """Row 11: nothing changes where there is any."""
    model = EventClassifier(**QUICK).fit(small_sample)
    judged = model.method_.predict(np.arange(40))
    assert not judged.undecided.any()
    np.testing.assert_array_equal(judged.scored_as, judged.predicted)
    truth = test_rows["event"].to_numpy()
    assert model.score(test_rows) == pytest.approx(np.mean(model.predict(test_rows) == truth))


def test_parts_are_joined_with_who_was_undecided(mute, small_sample):
    parts = [(np.array([1, 0]), mute.method_.predict(np.array([3, 4])))]
    assert together(parts).undecided.tolist() == [True, True]
