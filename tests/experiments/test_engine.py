"""Runs are fair, kept, and not done twice."""

import math

import numpy as np
import polars as pl
import pytest

from eventide.errors import BadSetting, InputError
from eventide.experiments import Variant, choose, compare, read_experiment_data
from eventide.experiments.run_log import RunLog
from eventide.methods import METHODS
from eventide.methods.ucl import Ucl
from eventide.registry import Entry
from eventide.scoring.metrics import score


class Failing(Ucl):
    """Fails on one seed."""

    note = "a reconstruction"

    def fit(self, training_set, watch, checkpoints):
        if self.seed == 1:
            raise RuntimeError("out of luck")
        return super().fit(training_set, watch, checkpoints)


@pytest.fixture
def failing(monkeypatch):
    entry = Entry("failing", f"{__name__}:Failing", "", "beyond")
    monkeypatch.setitem(METHODS._entries, "failing", entry)
    monkeypatch.setattr(Entry, "load", lambda self, load=Entry.load: (
        Failing if self.name == "failing" else load(self)
    ))  # fmt: skip


def test_a_row_holds_all_that_tables_and_tests_need(compared):
    assert [run.seed for run in compared.runs["ce"]] == [0, 1]
    for run in (*compared.runs["ce"], *compared.runs["ucl-ec"]):
        outcome = run.outcome
        truth, predicted = np.array(outcome.truth), np.array(outcome.predicted)
        assert outcome.test.accuracy == np.mean(truth == predicted)
        assert outcome.test.nmi == score(truth, predicted).nmi
        assert len(outcome.doubt) == len(truth) == outcome.messages.test
        assert outcome.epochs == 2
        assert outcome.best_epoch in (1, 2)
        assert outcome.seconds.epoch > 0
        assert outcome.seconds.processor > 0
        assert outcome.validation.accuracy is not None
        assert run.settings["training"]["epochs"] == 2
        assert {"eventide", "torch", "numpy", "python"} <= run.versions.keys()
        assert all(math.isfinite(value) for value in outcome.doubt)


def test_a_seed_is_shared_by_all_methods(compared):
    for one, other in zip(compared.runs["ce"], compared.runs["ucl-ec"], strict=True):
        assert one.outcome.tested == other.outcome.tested
        assert one.outcome.truth == other.outcome.truth
    first, second = compared.outcomes("ce")
    assert first.tested != second.tested


def test_finished_runs_are_not_run_again(compared, small_sample, quick):
    steps = []
    again = compare(
        small_sample, compared.variants, range(2), out=compared.path.parent,
        watch=steps.append, **quick,
    )  # fmt: skip
    assert [(step.done, step.total) for step in steps] == [(4, 4)]
    assert again.runs == compared.runs


def test_other_conditions_are_other_runs(compared, small_sample, quick, tmp_path):
    def keys(messages=small_sample, **changed):
        found = compare(
            messages, choose("lr-tfidf").variants, [0], out=tmp_path, **(quick | changed)
        )
        return {run.key for run in found.runs["lr-tfidf"]}

    ways = [
        keys(),
        keys(protocol="inductive"),
        keys(split="stored"),
        keys(changes={"training.epochs": 3}),
        keys(small_sample.with_columns(text=pl.col("text") + " !")),
    ]
    assert len(set.union(*ways)) == len(ways)
    assert len(RunLog(tmp_path / "runs.jsonl").read()[0]) == len(ways)


def test_the_same_work_under_two_names_is_done_once(compared, small_sample, quick):
    steps = []
    changes = {"loss.prototypes": "centroids", "loss.class_balanced": False}
    twin = Variant("twin", "ucl-ec", changes)
    found = compare(
        small_sample, [*compared.variants, twin], range(2), out=compared.path.parent,
        watch=steps.append, **quick,
    )  # fmt: skip
    assert steps[-1].total == 4
    assert found.runs["twin"] == found.runs["ucl-ec"]


def test_test_labels_reach_nothing(compared, small_sample, quick, tmp_path):
    """Other labels of the same test messages leave every prediction as it is."""
    first = compared.runs["ce"][0]
    stored = read_experiment_data(small_sample).messages
    turned = stored.with_columns(
        event=pl.when(pl.col("split") == "test")
        .then(pl.col("event").sort().reverse())
        .otherwise("event")
    )
    stored_way = quick | {"split": "stored"}
    runs = [
        compare(messages, choose("ucl-ec").variants, [0], out=tmp_path, **stored_way)
        for messages in (stored, turned)
    ]
    one, other = (found.outcomes("ucl-ec")[0] for found in runs)
    assert one.truth != other.truth
    assert one.predicted == other.predicted
    assert one.doubt == other.doubt
    assert first.outcome.tested != one.tested


@pytest.mark.parametrize("split", ["random", "duplicate-aware"])
def test_an_event_too_small_for_the_split_is_said_before_anything_runs(
    split, small_sample, quick, tmp_path
):
    with pytest.raises(InputError, match="too few messages"):
        compare(small_sample, choose("ce").variants, out=tmp_path, **(quick | {"split": split}))
    assert not list(tmp_path.iterdir())


def test_chronological_runs_are_inductive(small_sample, quick, tmp_path):
    found = compare(
        small_sample, choose("ce").variants, [0, 1], out=tmp_path,
        **(quick | {"split": "chronological"}),
    )  # fmt: skip
    one, other = found.runs["ce"]
    assert one.protocol == "inductive"
    assert one.outcome.tested == other.outcome.tested
    assert any("same for every seed" in note for note in found.notes)


def test_a_failed_run_is_written_down_and_tried_again(failing, small_sample, quick, tmp_path):
    variants = [Variant("failing", "failing"), *choose("lr-tfidf").variants]
    found = compare(small_sample, variants, range(2), out=tmp_path, **quick)
    assert [run.seed for run in found.runs["failing"]] == [0]
    assert len(found.runs["lr-tfidf"]) == 2
    (failure,) = found.failures
    assert "out of luck" in failure.error
    assert "Failing" in failure.trace or "fit" in failure.trace
    assert found.note("failing") == "a reconstruction; not tuned"
    steps = []
    compare(small_sample, variants, range(2), out=tmp_path, watch=steps.append, **quick)
    assert [step.run.variant for step in steps[1:]] == ["failing"]


def test_when_the_caller_stops_finished_rows_stay(small_sample, quick, tmp_path):
    def stop(step):
        if step.run is not None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compare(small_sample, choose("lr-tfidf").variants, out=tmp_path, watch=stop, **quick)
    assert len(RunLog(tmp_path / "runs.jsonl").read()[0]) == 1


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"seeds": []}, "at least one"),
        ({"seeds": [-1]}, "negative"),
        ({"workers": 0}, "at least one worker"),
        ({"changes": {"training.epoch": 3}}, "did you mean"),
        ({"preset": "none"}, "no preset"),
        ({"encoder": "wordlama"}, "did you mean"),
        ({"variants": choose("ce").variants * 2}, "two variants"),
        ({"variants": [Variant("x", "nobody")]}, "cannot run"),
    ],
)
def test_what_cannot_be_is_said_first(changed, says, small_sample, quick, tmp_path):
    given = {"variants": choose("ce").variants, "out": tmp_path, **quick, **changed}
    with pytest.raises(InputError, match=says):
        compare(small_sample, given.pop("variants"), given.pop("seeds", [0]), **given)
    assert not list(tmp_path.iterdir())


def test_unlabelled_messages_are_refused_as_material(small_sample):
    with pytest.raises(InputError, match="labelled"):
        read_experiment_data(small_sample.with_columns(event=pl.lit(None, pl.String)))


def test_an_unknown_protocol_is_a_setting_error():
    with pytest.raises(BadSetting):
        compare([], choose("ce").variants, out="x", protocol="both")
