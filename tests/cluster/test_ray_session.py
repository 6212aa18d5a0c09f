"""Everything on Ray: in a network of its own, one session, two workers, a small object store."""

import json
import os
import shutil
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

from eventide import EventClassifier, load
from eventide.cluster import ray_session
from eventide.cluster.ray_session import RayOptions, check_address, has_token, room_for
from eventide.data import read
from eventide.errors import BadSetting, MissingDependency, NotAllowed
from tree import ROOT

PRIVATE = "ip link set lo up && exec timeout --signal=KILL 600 "


@pytest.fixture(scope="module")
def on_ray(archive):
    """What the work on Ray left behind, done once for all tests."""
    pytest.importorskip("ray", reason="Ray is not installed")
    if shutil.which("unshare") is None or shutil.which("ip") is None:
        pytest.skip("no unshare or ip: Ray listens on all interfaces, so it needs its own network")
    tried = ["unshare", "-rn", "ip", "link", "set", "lo", "up"]
    if subprocess.run(tried, capture_output=True, check=False).returncode:
        pytest.skip("this machine allows no private network")
    words = f"{sys.executable} {ROOT / 'tests/support/ray_work.py'} {archive}"
    paths = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        ["unshare", "-rn", "sh", "-c", PRIVATE + words],
        capture_output=True,
        text=True,
        timeout=660,
        # Ray's workers would step back behind every other process, and hardly run on a busy machine
        env={
            **os.environ,
            "PYTHONPATH": paths,
            "PYTHONWARNINGS": "ignore",
            "RAY_worker_niceness": "0",
        },
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return archive, json.loads((archive / "told.json").read_text())


def test_assignment_on_ray_survives_a_killed_actor(on_ray, same_opinions):
    """No row lost or doubled, the same opinions, bad rows set aside, and nothing done twice."""
    folder, told = on_ray
    expected = pl.read_parquet(folder / "expected.parquet")
    same_opinions(pl.read_parquet(folder / "on-ray" / "part-*.parquet"), expected)
    assigned = told["assigned"]
    assert (assigned["messages"], assigned["rejected"]) == (len(expected), 1)
    assert assigned["killed"] == 1
    assert assigned["kept"] == len(list((folder / "on-ray").glob("part-*.parquet"))) > 6


def test_a_comparison_on_ray_gives_the_same_runs(on_ray, tmp_path):
    from eventide.experiments import choose, compare

    folder, told = on_ray
    here = compare(
        folder / "labelled.parquet",
        choose("nearest-in-time").variants,
        [0, 1],
        out=tmp_path,
        split="stored",
        workers=1,
    )
    runs = [[run.seed, run.outcome.predicted] for runs in here.runs.values() for run in runs]
    assert told["compared"] == runs


def test_a_memory_in_actors_gives_the_same_opinions(on_ray, same_opinions):
    folder, _ = on_ray
    found = pl.read_parquet(folder / "remote.parquet")
    expected = pl.read_parquet(folder / "expected.parquet").filter(
        pl.col("id").is_in(found["id"].to_list())
    )
    same_opinions(found, expected)


def test_two_workers_of_ray_train_as_one_process_does(on_ray, small_sample, same_opinions):
    """One of them is killed after the first epoch, and all go on from the checkpoint."""
    folder, told = on_ray
    parameters = json.loads((folder / "parameters.json").read_text()) | told["trained"]["more"]
    here = EventClassifier(**parameters).fit(small_sample)
    there = load(folder / "trained-on-ray")
    assert told["trained"]["killed"] == 1
    assert set(told["trained"]["epochs"]) == {row["epoch"] for row in here.history_}
    for name, expected in here.method_.state().items():
        np.testing.assert_allclose(there.method_.state()[name], expected, atol=1e-5, err_msg=name)
    new = read(folder / "in" / "new-00.jsonl")
    same_opinions(there.opinions(new), here.opinions(new))


@pytest.mark.parametrize(
    ("environment", "options", "words"),
    [
        ({"RAY_AUTH_MODE": "disabled"}, RayOptions(), "RAY_AUTH_MODE is 'disabled'"),
        ({}, RayOptions(address="10.0.0.1:6379"), "no token is given"),
    ],
)
def test_a_cluster_without_a_token_is_refused(monkeypatch, tmp_path, environment, options, words):
    for name in ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(ray_session, "check_installed", lambda: None)
    with pytest.raises(NotAllowed, match="without token authentication is refused") as refused:
        ray_session.ray_session(options).__enter__()
    assert words in str(refused.value)
    assert "RAY_AUTH_MODE=token" in refused.value.next_step


def test_a_cluster_that_answers_strangers_is_refused(monkeypatch):
    """The probe asks without a token; an answer means that anybody gets one."""
    monkeypatch.setattr(ray_session, "_PROBE", "pass")
    with pytest.raises(NotAllowed, match=r"10\.0\.0\.1:6379 answers without a token"):
        ray_session.check_guarded("10.0.0.1:6379")
    monkeypatch.setattr(ray_session, "_PROBE", "raise SystemExit('no network')")
    with pytest.raises(NotAllowed, match="did not say whether"):
        ray_session.check_guarded("10.0.0.1:6379")
    monkeypatch.setattr(ray_session, "_PROBE", "raise SystemExit('Unauthenticated')")
    assert ray_session.check_guarded("10.0.0.1:6379") is None


def test_a_token_is_found_as_ray_finds_it(monkeypatch, tmp_path):
    for name in ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert not has_token()
    (tmp_path / ".ray").mkdir()
    (tmp_path / ".ray" / "auth_token").write_text("secret")
    assert has_token()
    monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", str(tmp_path / "absent"))
    assert not has_token()
    monkeypatch.setenv("RAY_AUTH_TOKEN", "secret")
    assert has_token()


def test_a_worker_that_fits_nowhere_is_told_before_ray_waits_for_ever():
    large = {"Alive": True, "Resources": {"CPU": 8.0, "memory": 4096.0 * 2**20}}
    gone = large | {"Alive": False}
    assert room_for([large, gone], RayOptions(cpus=1.0)) == 8
    assert room_for([large, gone], RayOptions(cpus=1.0, memory=1024)) == 4
    for options in (RayOptions(cpus=16.0), RayOptions(memory=8192)):
        with pytest.raises(BadSetting, match="no node of the cluster has room"):
            room_for([large], options)


def test_addresses_that_cannot_work_are_refused():
    with pytest.raises(BadSetting, match="Ray client"):
        check_address(RayOptions(address="ray://head:10001"))
    with pytest.raises(BadSetting, match="object store"):
        check_address(RayOptions(address="auto", object_store=100))


def test_ray_that_is_not_installed_is_named(monkeypatch):
    monkeypatch.setattr(ray_session, "find_spec", lambda _: None)
    with pytest.raises(MissingDependency, match=r"needs the package ray"):
        ray_session.check_installed()
