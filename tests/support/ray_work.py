"""All work on Ray in one session, run by a test in a network of its own; results go to a file."""

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path

import polars as pl

from eventide import load
from eventide.cluster.assigner import AssignmentRequest
from eventide.cluster.assignment import assign_files
from eventide.cluster.distributed import launch_ray, run_folder
from eventide.cluster.partitions import FileReading
from eventide.cluster.ray_assignment import ray_assignment
from eventide.cluster.ray_jobs import ray_jobs
from eventide.cluster.ray_session import RayOptions, check_guarded, ray_session
from eventide.cluster.shards import remote_memory
from eventide.cluster.train_worker import TrainingRequest
from eventide.data import read
from eventide.experiments import choose, compare

OPTIONS = RayOptions(object_store=100)


def descendants(pid: int) -> dict[int, str]:
    """The processes below one, with their command lines."""
    parents, names = {}, {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int(
                    (entry / "stat").read_text().rpartition(")")[2].split()[1]
                )
                names[int(entry.name)] = (entry / "cmdline").read_bytes().decode(errors="replace")
            except OSError:
                continue
    below = {pid}
    while more := {child for child, parent in parents.items() if parent in below} - below:
        below |= more
    return {each: names[each] for each in below - {pid}}


def kill_one(*names: str) -> int | None:
    """Kill one of our processes whose command line has all these names."""
    for pid, line in descendants(os.getpid()).items():
        if all(name in line for name in names):
            os.kill(pid, signal.SIGKILL)
            return pid
    return None


def kill_an_actor(out: Path, killed: list[int]) -> None:
    """Kill one of the actors as soon as there is a part."""
    while not any(out.glob("part-*.parquet")):
        time.sleep(0.02)
    if (pid := kill_one("MapWorker", "PartitionActor")) is not None:
        killed.append(pid)


def assigned(folder: Path) -> dict[str, object]:
    out = folder / "on-ray"
    files = tuple(str(each) for each in sorted((folder / "in").iterdir()))
    request = AssignmentRequest(
        str(folder / "model"), str(out), files, FileReading({}, {}, ()), rows=40
    )
    killed: list[int] = []
    threading.Thread(target=kill_an_actor, args=(out, killed), daemon=True).start()
    summary = assign_files(request, engine=ray_assignment(OPTIONS, 2))
    again = assign_files(request, engine=ray_assignment(OPTIONS, 2))
    return {
        "killed": len(killed),
        "messages": summary.messages,
        "rejected": summary.rejected,
        "kept": again.kept,
    }


def compared(folder: Path) -> list[list[object]]:
    results = compare(
        folder / "labelled.parquet",
        choose("nearest-in-time").variants,
        [0, 1],
        out=folder / "runs",
        split="stored",
        runner=ray_jobs(OPTIONS, 2),
    )
    assert not results.failures, results.failures
    return [[run.seed, run.outcome.predicted] for runs in results.runs.values() for run in runs]


def read_remotely(folder: Path) -> None:
    model = load(folder / "model")
    new = pl.read_ndjson(folder / "in" / "new-00.jsonl")
    with remote_memory(model, 2, OPTIONS) as actors:
        assert len(actors) == 2
        model.opinions(new).write_parquet(folder / "remote.parquet")


def trained(folder: Path) -> dict[str, object]:
    intake = read(folder / "labelled.parquet")
    more = {"training__epochs": 4}
    parameters = json.loads((folder / "parameters.json").read_text()) | more
    epochs, killed = [], []

    def watch(row: dict[str, float]) -> None:
        epochs.append(row["epoch"])
        if not killed:
            killed.append(kill_one("RayTrainWorker"))

    with run_folder(folder / "trained-on-ray", intake) as place:
        request = TrainingRequest(
            str(place), parameters, str(folder / "trained-on-ray"), str(folder / "checkpoint"), 1
        )
        launch_ray(request, 2, OPTIONS, watch)
    return {"epochs": epochs, "killed": len([each for each in killed if each]), "more": more}


def main(folder: Path) -> None:
    told: dict[str, object] = {}
    with ray_session(OPTIONS, 2):
        import ray

        check_guarded(ray.get_runtime_context().gcs_address)
        for step in (assigned, compared, read_remotely, trained):
            started = time.perf_counter()
            told[step.__name__] = step(folder)
            sys.stdout.write(f"{step.__name__} {time.perf_counter() - started:.1f}\n")
    (folder / "told.json").write_text(json.dumps(told))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
