"""Row 23: without validation messages nothing is made up, nothing stops early, and it is said."""

import polars as pl
import pytest

import eventide
from eventide.cli.train import show_training
from eventide.cli.watching import figures
from eventide.model import EventClassifier

QUICK = {"encoder": "tfidf-svd:16", "training__batch_size": 64}
PATIENT = {"training__epochs": 6, "training__patience": 2}


@pytest.fixture(scope="module")
def all_train(small_sample):
    """Every labelled message is for training; one in five has no label."""
    unlabelled = pl.int_range(pl.len()) % 5 == 4
    return small_sample.with_columns(
        split=pl.lit("train"), event=pl.when(~unlabelled).then(pl.col("event"))
    )


@pytest.fixture(scope="module", params=["transductive", "inductive"])
def model(request, all_train):
    return EventClassifier(protocol=request.param, **QUICK, **PATIENT).fit(all_train)


def test_all_epochs_are_trained_and_the_last_one_is_kept(model):
    """Row 23: patience has nothing to wait for."""
    assert len(model.history_) == 6
    assert model.best_epoch_ == 6
    said = "no validation messages: all 6 epochs were trained and the last one kept"
    assert said in model.notes_
    assert not any(name.startswith("validation") for row in model.history_ for name in row)


def test_the_last_weights_are_kept(all_train):
    """Row 23: the same as training without patience."""
    import numpy as np

    one = EventClassifier(**QUICK, training__epochs=4, training__patience=1).fit(all_train)
    other = EventClassifier(**QUICK, training__epochs=4, training__patience=None).fit(all_train)
    np.testing.assert_array_equal(one.predict_proba(all_train), other.predict_proba(all_train))


def test_nothing_shows_an_accuracy_of_zero(model, tmp_path, capsys):
    """Row 23: in the final line, the bar, the card, and after loading."""
    show_training(model, tmp_path / "model")
    shown = capsys.readouterr().out
    labelled = int((model.labels_ >= 0).sum())
    rest = len(model.labels_) - labelled
    assert f"learned 5 events from {labelled} labelled and {rest} unlabelled messages" in shown
    assert "note: no validation messages" in shown
    assert "ACC" not in shown
    assert "ACC" not in " ".join(figures(model.history_[-1], 80))
    card = (model.save(tmp_path / "model") / "README.md").read_text()
    assert "0.0000" not in card
    assert "no validation messages" in card
    assert eventide.load(tmp_path / "model").notes_ == model.notes_


def test_methods_without_epochs_make_up_no_figures_either(all_train):
    """Row 23: a method that learns in one step."""
    model = EventClassifier(method="lr-tfidf", **QUICK).fit(all_train)
    assert not any(name.startswith("validation") for name in model.history_[0])


def test_phases_are_counted_together(all_train):
    """Row 23: a method of several phases keeps the last epoch of the last one."""
    quick = QUICK | {"training__epochs": 5, "training__patience": 1}
    model = EventClassifier(method="dro-lt", **quick).fit(all_train)
    assert len(model.history_) == 5
    assert model.best_epoch_ == 5
    assert "no validation messages: all 5 epochs were trained and the last one kept" in model.notes_


def test_with_validation_messages_the_line_says_how_many(small_sample, tmp_path, capsys):
    model = EventClassifier(**QUICK, training__epochs=2).fit(small_sample)
    show_training(model, tmp_path / "model")
    held = int((small_sample["split"] == "val").sum())
    assert f"on {held} messages" in capsys.readouterr().out
