"""Starts the workers of a data-parallel training, under torchrun or in Ray Train, and waits."""

from __future__ import annotations

import json
import logging
import shutil
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import repeat
from pathlib import Path
from typing import Any

from eventide import errors
from eventide.cluster import train_worker
from eventide.cluster.ray_session import RayOptions, ray_session
from eventide.cluster.train_worker import FAILURE, ROWS, TrainingRequest, run_worker
from eventide.cluster.worker_devices import takes_gpus
from eventide.data.intake import Intake
from eventide.errors import BadSetting, EventideError
from eventide.experiments.workers import single_threads
from eventide.model import EventClassifier
from eventide.runtime.meanwhile import meanwhile
from eventide.storage import writing
from eventide.training.loop import Watch

RESTARTS = 3
"""Times that all workers are started again when one dies; they go on from the checkpoint."""

SIGNALS = [
    getattr(signal, name)
    for name in ("SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT")
    if hasattr(signal, name)
]

NETWORKS = ("GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME")
LOOPBACK = dict.fromkeys(NETWORKS, "lo") if sys.platform == "linux" else {}
"""Workers of one machine talk where nobody else can reach them."""

NEXT = "run the same command again with --resume: it goes on from the last checkpoint"


def launch_torchrun(request: TrainingRequest, workers: int, watch: Watch = lambda _: None) -> None:
    """Train with ``workers`` processes of this machine, started as torchrun starts them."""
    from torch.distributed.elastic.multiprocessing.api import SignalException
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
    from torch.distributed.launcher.api import LaunchConfig, elastic_launch

    for name in list(logging.root.manager.loggerDict):  # each has a level of its own
        if name.startswith("torch.distributed."):
            logging.getLogger(name).setLevel(logging.CRITICAL)
    config = LaunchConfig(
        min_nodes=1,
        max_nodes=1,
        nproc_per_node=workers,
        run_id=Path(request.folder).name,
        rdzv_backend="c10d",
        rdzv_endpoint="127.0.0.1:0",
        local_addr="127.0.0.1",
        max_restarts=RESTARTS,
        monitor_interval=0.2,
    )
    with single_threads(LOOPBACK | _same_code()), _watched(request, watch), _own_signals():
        try:
            # As a program, not as a function: functions wait on a lock of all workers before they
            # end, and one that is killed there would hold up the launcher for ever.
            elastic_launch(config, sys.executable)("-m", train_worker.__name__, request.kept())
        except SignalException:  # how the launcher tells of Ctrl-C
            raise KeyboardInterrupt from None
        except ChildFailedError as error:
            _raise_failure(request)
            raise _died(error.get_first_failure()[1].message) from None
    _raise_failure(request)


def launch_ray(
    request: TrainingRequest,
    workers: int,
    options: RayOptions,
    watch: Watch = lambda _: None,
) -> None:
    """Train with ``workers`` workers of Ray Train, on a GPU each where there are any."""
    with ray_session(options, workers) as room, _watched(request, watch):
        import ray
        from ray.train import FailureConfig, RunConfig, ScalingConfig
        from ray.train.torch import TorchConfig, TorchTrainer

        if workers > room:
            raise BadSetting(
                f"the cluster has room for {room} workers, not for {workers}",
                next_step=f"give --workers {room}, or lower --worker-cpus",
            )
        device = EventClassifier(**request.parameters).settings().training.device
        gpus = takes_gpus(device, workers, int(ray.cluster_resources().get("GPU", 0)))
        needs = {"CPU": options.cpus} | ({"GPU": 1.0} if gpus else {})
        if "memory" in options.resources():
            needs["memory"] = options.resources()["memory"]
        trainer = TorchTrainer(
            run_worker,
            train_loop_config=request.plain(),
            torch_config=TorchConfig(backend="nccl" if gpus else "gloo"),
            scaling_config=ScalingConfig(
                num_workers=workers, use_gpu=gpus, resources_per_worker=needs
            ),
            run_config=RunConfig(
                storage_path=str(Path(request.folder).absolute()),
                failure_config=FailureConfig(max_failures=RESTARTS),
            ),
        )
        try:
            with _own_signals():
                trainer.fit()
        except SystemExit:  # how Ray Train tells of Ctrl-C
            raise KeyboardInterrupt from None
        except Exception as error:
            _raise_failure(request)
            raise _died(error) from None
    _raise_failure(request)


def _same_code() -> dict[str, str]:
    """Let workers import this very package, wherever it was found."""
    return {"PYTHONPATH": str(Path(train_worker.__file__).parents[2])}


@contextmanager
def _own_signals() -> Iterator[None]:
    """Put back how this process answers signals: the launcher leaves its own answers behind."""
    before = {each: signal.getsignal(each) for each in SIGNALS}
    try:
        yield
    finally:
        for each, answer in before.items():
            signal.signal(each, answer)


@contextmanager
def run_folder(out: Path, intake: Intake) -> Iterator[Path]:
    """Give a folder beside ``out`` with the messages, for the workers; it goes in the end."""
    folder = out.with_name(f".{out.name}.workers")
    with writing(folder, "the messages for the workers"):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True, mode=0o700)
        intake.messages.write_parquet(folder / "messages.parquet")
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _watched(request: TrainingRequest, watch: Watch) -> Iterator[None]:
    """Hand each epoch's row on as the first worker writes it."""
    path = Path(request.folder) / ROWS
    told = 0

    def look() -> None:
        nonlocal told
        if path.is_file():
            lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
            for line in lines[told:]:
                if line.endswith("\n"):
                    watch(json.loads(line))
                    told += 1

    try:
        with meanwhile(look, repeat(0.1), "eventide-epochs"):
            yield
    finally:
        look()


def _raise_failure(request: TrainingRequest) -> None:
    """Raise the typed error that a worker left."""
    path = Path(request.folder) / FAILURE
    if path.is_file():
        told: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        kind = getattr(errors, told["kind"], EventideError)
        raise kind(told["text"])


def _died(error: object) -> EventideError:
    told = " ".join(str(error).split())[-300:]
    return EventideError(
        f"workers of the training died {RESTARTS + 1} times: {told}", next_step=NEXT
    )
