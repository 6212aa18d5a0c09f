"""Results of regimes, rebuilt from a log of runs."""

import gzip

import pytest

from eventide.errors import BadSetting, UnreadableSource
from eventide.experiments.regime_results import results_from_log
from eventide.experiments.run_log import RunLog
from invented_regimes import invented, record


def written(folder, *runs):
    log = RunLog(folder / "runs.jsonl")
    for run in runs:
        log.append(run)
    return log.path


def at(hour):
    return f"2026-01-01T{hour:02}:00:00+00:00"


def test_a_log_gives_the_results_that_wrote_it(tmp_path):
    results = invented(
        {
            "random": {"ce": [0.5, 0.6], "ucl": [0.7, None]},
            "weak-vectors": {"ce": [0.5, 0.6]},
        }
    )
    runs = [run for part in results.parts.values() for own in part.runs.values() for run in own]
    path = written(tmp_path, *runs, *results.failures)
    again = results_from_log(path)
    assert list(again.parts) == ["random", "weak-vectors"]
    for name, part in again.parts.items():
        expected = results.parts[name]
        assert part.runs == expected.runs
        assert part.failures == expected.failures
        assert part.seeds == expected.seeds
        assert [each.name for each in part.variants] == [each.name for each in expected.variants]
        assert part.plan == expected.plan
    assert (again.lock, again.tuning, again.path) == ("crisislex-1", False, path)


def test_a_packed_log_is_read_too(tmp_path):
    path = written(tmp_path, record("random", "ce", 0, 0.5))
    packed = tmp_path / "old.jsonl.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert (
        results_from_log(packed).parts["random"].runs == results_from_log(path).parts["random"].runs
    )


def test_the_newest_finished_run_counts_and_commits_are_named(tmp_path):
    path = written(
        tmp_path,
        record("random", "ce", 0, 0.9, finished_at=at(5), commit="new"),
        record("random", "ce", 0, 0.5, finished_at=at(1), commit="old"),
        record("random", "ce", 0, None, finished_at=at(6), commit="newest"),
        record("random", "ce", 1, 0.5, finished_at=at(1), commit="old"),
        record("random", "ucl", 0, None, finished_at=at(2)),
        record("random", "ucl", 0, None, finished_at=at(3)),
        record("", "bcl", 0, 0.5, lock=""),
    )
    results = results_from_log(path)
    part = results.parts["random"]
    assert [run.commit for run in part.runs["ce"]] == ["new", "old"]
    assert [run.finished_at for run in part.failures] == [at(3)]
    assert "bcl" not in part.runs
    assert any("2 versions of the code (commit old, commit new)" in note for note in results.notes)


def test_regimes_and_methods_are_chosen_in_order(tmp_path):
    names = ("ce", "ucl", "bcl", "mine")
    runs = [record(r, m, 0, 0.5) for r in ("scarce-3", "chronological", "random") for m in names]
    path = written(tmp_path, *runs)
    assert list(results_from_log(path).parts) == ["random", "chronological", "scarce-3"]
    results = results_from_log(path, ["scarce-3", "random"], ["mine", "ucl"])
    assert list(results.parts) == ["scarce-3", "random"]
    assert [each.name for each in results.variants] == ["mine", "ucl"]
    group = results_from_log(path, methods=["long-tail"])
    assert {each.name for each in group.variants} == {"ce", "ucl", "bcl"}
    with pytest.raises(BadSetting, match="did you mean 'random'"):
        results_from_log(path, ["randon"])
    with pytest.raises(BadSetting, match="no method called 'ldam-drw'"):
        results_from_log(path, methods=["ldam-drw"])


def test_tuning_and_reported_runs_are_never_mixed(tmp_path):
    path = written(
        tmp_path,
        record("random", "ce", 0, 0.9, tuning=True, finished_at=at(9)),
        record("random", "ce", 0, 0.5, finished_at=at(1)),
    )
    shares = {
        tuning: results_from_log(path, tuning=tuning)
        .parts["random"]
        .outcomes("ce")[0]
        .test.accuracy
        for tuning in (None, False, True)
    }
    assert shares == {None: 0.5, False: 0.5, True: 0.9}
    (tmp_path / "tuned").mkdir()
    tuned = written(tmp_path / "tuned", record("random", "ce", 0, 0.9, tuning=True))
    assert results_from_log(tuned).tuning
    with pytest.raises(BadSetting, match="tested on locked messages"):
        results_from_log(tuned, tuning=False)


def test_other_data_and_other_conditions_are_told(tmp_path):
    path = written(
        tmp_path,
        record("random", "ce", 0, 0.5, fingerprint="older", finished_at=at(1)),
        record("random", "ce", 1, 0.5, finished_at=at(2)),
        record("random", "ucl", 1, 0.5, finished_at=at(2), encoder="minilm"),
        record("random", "ucl", 2, 0.5, finished_at=at(2), settings={"a": 1}),
        record("random", "ce", 1, 0.5, dataset="another", finished_at=at(3)),
    )
    with path.open("a") as file:
        file.write("nonsense\n")
    with pytest.raises(BadSetting, match="several datasets: crisislex-lt28, another"):
        results_from_log(path)
    with pytest.raises(BadSetting, match="no run on 'crisislex'"):
        results_from_log(path, dataset="crisislex")
    results = results_from_log(path, dataset="crisislex-lt28")
    assert [run.seed for run in results.parts["random"].runs["ce"]] == [1]
    told = "\n".join(results.notes)
    for said in (
        "1 runs on other messages", "1 unreadable lines",
        "random: the runs differ in encoder: wordllama, minilm",
        "random: the runs of ucl differ in settings",
    ):  # fmt: skip
        assert said in told


def test_what_is_no_log_of_regimes_is_refused(tmp_path):
    with pytest.raises(UnreadableSource, match="no such run log"):
        results_from_log(tmp_path / "runs.jsonl")
    plain = written(tmp_path, record("", "ce", 0, 0.5))
    with pytest.raises(BadSetting, match="no run of a regime"):
        results_from_log(plain)
    (tmp_path / "not.gz").write_bytes(plain.read_bytes())
    with pytest.raises(UnreadableSource, match="not packed with gzip"):
        results_from_log(tmp_path / "not.gz")
