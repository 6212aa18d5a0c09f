"""One worker of a data-parallel training: joins the group, trains its share; the first one saves.

The same function runs directly, under torchrun and in Ray Train: it asks `torch.distributed` alone.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

import polars as pl
import torch
from torch import distributed
from torch._C._distributed_c10d import PrefixStore
from torch.distributed.rendezvous import rendezvous

from eventide.cluster.worker_devices import CPU, agreed_device, backend_of
from eventide.data.intake import Intake
from eventide.data.schema import REJECTED
from eventide.errors import BadSetting, EventideError
from eventide.methods import METHODS
from eventide.methods.trained import MultiViewMethod
from eventide.model import EventClassifier
from eventide.model.artefact import save_model
from eventide.model.salt import made_or_read_salt
from eventide.progress import report_epochs
from eventide.runtime.own_process import make_own
from eventide.runtime.share import Share, shared_by
from eventide.storage import atomic_file
from eventide.training.checkpoints import has_checkpoint
from eventide.training.loop import Watch

RESTARTED = "TORCHELASTIC_RESTART_COUNT"
"""How often torchrun has started the workers again."""

FAILURE, ROWS = "failure.json", "epochs.jsonl"
"""Files of a run's folder: the typed error of a worker, and a line for every epoch."""


@dataclass(frozen=True)
class TrainingRequest:
    """What a worker needs to know, as plain values; paths are the same on every node.

    ``folder`` holds the messages while the training lasts. ``parameters`` are the classifier's.
    """

    folder: str
    parameters: dict[str, Any]
    out: str
    checkpoints: str | None
    checkpoint_every: int = 10
    keep_text: bool = False
    salt_file: str | None = None

    @property
    def messages(self) -> Path:
        """The file of the messages."""
        return Path(self.folder) / "messages.parquet"

    def plain(self) -> dict[str, Any]:
        """Return it as values of JSON."""
        return asdict(self)

    def kept(self) -> str:
        """Write it into its folder, for workers that are programs; return the file."""
        path = Path(self.folder) / "request.json"
        path.write_text(json.dumps(self.plain()), encoding="utf-8")
        return str(path)


def check_method(method: str) -> None:
    """Raise for a method that several workers cannot train together."""
    kind = METHODS.load(method)
    shared = isinstance(kind, type) and issubclass(kind, MultiViewMethod)
    if not shared or kind.make_runner is not MultiViewMethod.make_runner:
        raise BadSetting(
            f"several workers cannot train {method} together",
            next_step="choose a method of the multi-view frame, such as ucl-ec, or leave "
            "--engine out",
        )


def run_worker(plain: Mapping[str, Any]) -> None:
    """Train as one worker; a typed error is left in the run's folder for whoever waits for it."""
    request = TrainingRequest(**plain)
    make_own()
    try:
        train_worker(request)
    except EventideError as error:
        told = {"kind": type(error).__name__, "text": str(error)}
        with atomic_file(Path(request.folder) / FAILURE) as temporary:
            temporary.write_text(json.dumps(told), encoding="utf-8")


def train_worker(request: TrainingRequest, intake: Intake | None = None) -> None:
    """Train this worker's share of the messages; the first worker saves the model.

    The messages are read from the request's folder unless an ``intake`` is given. A run that was
    stopped goes on from its checkpoint.
    """
    torch.set_num_threads(1)
    if intake is None:
        messages = pl.read_parquet(request.messages)
        intake = Intake(messages, pl.DataFrame(schema=REJECTED), len(messages))
    model = EventClassifier(**request.parameters)
    check_method(model.method)
    with group(model.settings().training.device) as share:
        checkpoints = None if request.checkpoints is None else Path(request.checkpoints)
        salt = None if request.salt_file is None else Path(request.salt_file)
        if salt is not None and share.first:
            made_or_read_salt(salt)
        _wait(share)
        with shared_by(share), _telling(request, share, model) as watch:
            model.fit(
                intake,
                watch=watch,
                checkpoints=checkpoints,
                checkpoint_every=request.checkpoint_every,
                resume=checkpoints is not None and has_checkpoint(checkpoints),
                salt_file=salt,
            )
        if share.first:
            alone(model)
            save_model(model, Path(request.out), keep_text=request.keep_text)
        _wait(share)


def alone(model: EventClassifier) -> None:
    """Let a model that was trained by several workers answer by itself."""
    method = cast(MultiViewMethod, model.method_)
    before = method.runner
    method.runner = method.make_runner(before.network, model.memory_, before.device)


@contextmanager
def group(device: str) -> Iterator[Share]:
    """Join the group that the environment names, if it names one; give this worker's share.

    Workers talk by gloo, or by nccl where each has a GPU; ``device`` is the setting. Who has joined
    already, as a worker of Ray Train has, stays in the group and on the GPU that Ray chose.
    """
    if distributed.is_initialized():
        on_gpu = distributed.get_backend() == "nccl"
        own = torch.device("cuda", torch.cuda.current_device()) if on_gpu else CPU
        yield Share(distributed.get_rank(), distributed.get_world_size(), own)
        return
    if not distributed.is_torchelastic_launched():
        yield Share()
        return
    store, rank, size = next(rendezvous("env://"))
    # Workers that are started again meet in the same store: what the dead ones left misleads them.
    attempt = PrefixStore(os.environ.get(RESTARTED, "0"), store)
    own = agreed_device(device, attempt, rank, size)
    on_gpu = own.type == "cuda"
    if on_gpu:
        torch.cuda.set_device(own)
    distributed.init_process_group(
        backend_of(own),
        store=attempt,
        rank=rank,
        world_size=size,
        device_id=own if on_gpu else None,
    )
    try:
        yield Share(rank, size, own)
    finally:
        distributed.destroy_process_group()


def _wait(share: Share) -> None:
    if share.size > 1:
        distributed.barrier()


@contextmanager
def _telling(request: TrainingRequest, share: Share, model: EventClassifier) -> Iterator[Watch]:
    """Give a function for each epoch's row: the first worker leaves lines in the folder."""
    if not share.first:
        yield lambda _: None
        return
    folder = Path(request.folder)
    with report_epochs(model.settings().training.epochs) as tell:

        def watch(row: dict[str, float]) -> None:
            tell(row)
            if folder.is_dir():
                with (folder / ROWS).open("a", encoding="utf-8") as lines:
                    lines.write(json.dumps(row) + "\n")

        yield watch


def _follow_parent() -> None:
    """End this worker when the launcher has gone: nobody else would."""
    parent = os.getppid()
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


if __name__ == "__main__":
    threading.Thread(target=_follow_parent, daemon=True).start()
    run_worker(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
