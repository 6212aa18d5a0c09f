"""Which device each worker of a training computes on, and how workers on it talk to each other."""

from __future__ import annotations

import os

import torch
from torch._C._distributed_c10d import Store

from eventide.errors import BadSetting
from eventide.runners.runner import choose_device

CPU = torch.device("cpu")


def backend_of(device: torch.device) -> str:
    """Return what `torch.distributed` adds tensors of this device up with.

    >>> backend_of(torch.device("cpu")), backend_of(torch.device("cuda", 1))
    ('gloo', 'nccl')
    """
    return "nccl" if device.type == "cuda" else "gloo"


def takes_gpus(name: str, workers: int, gpus: int) -> bool:
    """Say whether ``workers`` train on GPUs, one each, where there are so many ``gpus``.

    ``name`` is the setting training.device; ``auto`` takes GPUs where there are any.

    >>> takes_gpus("auto", 2, 0), takes_gpus("auto", 2, 4), takes_gpus("cpu", 2, 4)
    (False, True, False)
    """
    kind, _, number = name.partition(":")
    if kind == "cpu" or (kind == "auto" and gpus == 0):
        return False
    if kind not in ("auto", "cuda"):
        choose_device(name)  # says what is wrong with a device that is none
        raise BadSetting(
            f"several workers train on processors or with CUDA, not on {name}",
            next_step="set training.device=cpu, or leave --engine out",
        )
    if number:
        raise BadSetting(
            f"several workers cannot all train on {name}",
            next_step="set training.device=cuda: each worker takes a GPU of its own",
        )
    if workers > gpus:
        fewer = f"give --workers {gpus}" if gpus else "choose a machine with GPUs"
        raise BadSetting(
            f"{workers} workers need a GPU each, and there are {gpus}",
            next_step=f"{fewer}, or set training.device=cpu",
        )
    return True


def local_device(name: str) -> torch.device:
    """Return the device of this worker among those that torchrun started on this machine."""
    gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if not takes_gpus(name, int(os.environ["LOCAL_WORLD_SIZE"]), gpus):
        return CPU
    return torch.device("cuda", int(os.environ["LOCAL_RANK"]))


def agreed_device(name: str, store: Store, rank: int, size: int) -> torch.device:
    """Return this worker's device; workers that cannot talk to each other are told so, all of them.

    Before they meet: who waits for a worker that was refused would wait in vain.
    """
    refused: BadSetting | None = None
    device = CPU
    try:
        device = local_device(name) if size > 1 else choose_device(name)
    except BadSetting as error:
        refused = error
    store.set(f"device/{rank}", "none" if refused else device.type)
    kinds = {store.get(f"device/{each}").decode() for each in range(size)}
    if refused is not None:
        raise refused
    if kinds != {device.type}:
        raise BadSetting(
            "some workers can train on a GPU and some cannot",
            next_step="set training.device=cpu, or use machines with a GPU for each worker",
        )
    return device
