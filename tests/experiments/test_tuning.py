"""Equal trials for every method, and none of them on a locked message."""

import json

import pytest

from eventide.errors import BadSetting, LockedMessages
from eventide.experiments import Variant, choose, read_experiment_data
from eventide.experiments.engine import compare_regimes
from eventide.experiments.tuning import (
    BORROWED,
    PUBLISHED,
    REGIMES,
    TRIALS,
    Trial,
    Tuning,
    check_tunable,
    check_unlocked,
    space_of,
    tune,
    write_record,
)
from eventide.methods import METHODS
from eventide.methods.tuned import method_settings, tuning_note, tuning_record
from eventide.settings import descriptions
from tree import ROOT

QUICK = {"training.epochs": 1, "network.layers": (8, 8), "network.head_hidden": 8}


@pytest.fixture(scope="module")
def data(small_sample):
    return read_experiment_data(small_sample.drop("split"))


def test_every_method_has_the_same_number_of_changes_to_try():
    for entry in METHODS:
        space = space_of(entry.name)
        assert len(space) == TRIALS - 1
        assert all(set(changes) <= set(descriptions()) for changes in space)


def test_trials_are_run_and_the_better_ones_kept(data, tmp_path):
    methods = ["lr-encoder", "lr-tfidf", "nearest-in-time"]
    record = tune(data, methods, out=tmp_path, trials=3, workers=1, changes=QUICK)
    for name in methods[:2]:
        trials = record["methods"][name]["trials"]
        assert len(trials) == 3
        scores = [trial["score"] for trial in trials]
        assert all(set(trial["nll"]) == set(REGIMES) for trial in trials)
        best = min(range(3), key=scores.__getitem__)
        assert record["methods"][name]["chosen"] == trials[best]["changes"]
        assert [trial["kept"] for trial in trials] == [
            score == min(scores[: at + 1]) for at, score in enumerate(scores)
        ]
    assert record["methods"]["nearest-in-time"] == {"chosen": {}, "why": "nothing to set"}
    assert record["lock"] == "rule-1"
    again = tune(data, methods, out=tmp_path, trials=3, workers=1, changes=QUICK)
    assert again["methods"] == record["methods"]
    write_record(record, tmp_path / "tuned.json")
    assert json.loads((tmp_path / "tuned.json").read_text()) == record


def test_a_failed_trial_is_not_kept():
    found = Tuning({"ce": [Trial({}, {"random": 1.0}, {"random": 0.9}, 1.0, True)]})
    found.trials["ce"].append(Trial({"x": 1}, {"random": None}, {"random": None}, None, False))
    assert found.best("ce") == {}
    assert found.score("ce") == 1.0


def test_runs_on_locked_messages_choose_nothing(data, tmp_path):
    runs = compare_regimes(
        data, choose("nearest-in-time").variants, [0], ["random"], out=tmp_path, workers=1
    )
    with pytest.raises(LockedMessages, match="report, they do not choose"):
        check_unlocked(runs)


def test_methods_without_trials_are_named():
    with pytest.raises(BadSetting, match="none of these"):
        check_tunable([*BORROWED, *PUBLISHED])
    assert check_tunable(["ce", "bert"]) == ["ce"]


def test_the_file_has_every_method_and_equal_budgets():
    methods = tuning_record()["methods"]
    assert set(methods) <= {entry.name for entry in METHODS}
    assert len(methods) >= 31
    for name, row in methods.items():
        if name in PUBLISHED:
            assert row == {"chosen": {}, "why": PUBLISHED[name]}
        elif name in BORROWED:
            assert row == {"chosen": methods[BORROWED[name]]["chosen"], "as": BORROWED[name]}
        else:
            assert len(row["trials"]) == TRIALS
            assert row["trials"][0]["changes"] == {}
            assert [dict(each) for each in _changes(row["trials"])] == [
                dict(each) for each in space_of(name)
            ]
            kept = [trial["score"] for trial in row["trials"] if trial["kept"]]
            assert kept == sorted(kept, reverse=True)


def _changes(trials):
    """What every trial but the first changed in the best one before it."""
    best = {}
    for trial in trials:
        if trial is not trials[0]:
            yield {
                key: value for key, value in trial["changes"].items() if best.get(key, ...) != value
            }
        best = trial["changes"] if trial["kept"] else best


def test_the_page_says_what_was_chosen():
    page = (ROOT / "docs" / "tuning.md").read_text(encoding="utf-8")
    rows = {
        line.split("|")[1].strip(" `"): line for line in page.splitlines() if line.startswith("| `")
    }
    for name, row in tuning_record()["methods"].items():
        chosen = [f"`{key}={value}`" for key, value in row["chosen"].items()]
        if "as" in row:
            assert f"as `{row['as']}`" in rows[name]
        else:
            assert [each for each in chosen if each not in rows[name]] == []
            assert rows[name].count("=") == len(chosen)


def test_a_row_says_if_its_method_had_no_trials_of_its_own():
    assert [tuning_note(name) for name in ("ce", "ce-ensemble", "nearest-in-time", "other")] == [
        "", "tuned as ce", "no trials: nothing to set", "not tuned",
    ]  # fmt: skip


def test_the_default_preset_is_tuned_by_method():
    chosen = tuning_record()["methods"]["ce"]["chosen"]
    tuned, start = (
        method_settings("ce", name).model_dump(mode="json") for name in ("default", "untuned")
    )
    for name, value in chosen.items():
        group, leaf = name.split(".")
        assert tuned[group][leaf] == value
    assert (tuned == start) is (not chosen)
    assert Variant("ce", "ce").settings("default", {"training.epochs": 3}).training.epochs == 3
