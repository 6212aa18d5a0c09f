"""What every runner offers: a network bound to the messages it runs on, on a chosen device."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from eventide.corpus.corpus import Corpus, Ints
from eventide.errors import BadSetting
from eventide.networks.multi_view import ViewOutput
from eventide.networks.trainable import TrainableNetwork
from eventide.runtime.share import current_share

PROBE = "import torch; a = torch.ones(256, 256, dtype=torch.bfloat16); (a @ a.T).sum().item()"


def check_half_precision(device: torch.device) -> None:
    """Raise a clear error where a product in half precision would end the process.

    Some virtual machines announce instructions that they do not allow; the first product then kills
    the program. So a child process tries one first.
    """
    if device.type == "cpu" and not survives_half_precision():
        raise BadSetting(
            "this processor announces half precision but does not allow it",
            where="training.mixed_precision",
            next_step="leave it off, or set the environment variable "
            "ONEDNN_MAX_CPU_ISA=AVX512_CORE before starting",
        )


@cache
def survives_half_precision() -> bool:
    """Say whether a child process gets through a product in half precision on this processor."""
    done = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, check=False)
    return done.returncode == 0


Outputs = dict[str, ViewOutput]
Arrays = dict[str, NDArray[np.float32]]
NOBODY: Ints = np.empty(0, dtype=np.int64)


def choose_device(name: str) -> torch.device:
    """Resolve ``auto`` to CUDA or the CPU, and check any other name.

    Opinions need float64, which Apple's accelerator (mps) lacks.

    >>> choose_device("cpu")
    device(type='cpu')
    """
    if name == "auto":
        if torch.cuda.is_available():
            return torch.device("cuda")
        return torch.device("cpu")
    if name.partition(":")[0] == "mps":
        raise BadSetting(
            "the device 'mps' cannot be used: it has no float64, which opinions need",
            next_step="choose auto or cpu",
        )
    try:
        return torch.empty(0, device=name).device
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise BadSetting(
            f"the device {name!r} cannot be used: {reason}",
            next_step="choose auto or cpu, or install a PyTorch build for that device",
        ) from None


class Runner(Protocol):
    """What the loop and the methods ask of a network on its messages, whatever the network is.

    Between trainings any number of threads may evaluate: nothing of a caller's is kept here. What
    ``look_up`` finds belongs to whoever asked, and serves for as long as the memory is the same.
    """

    device: torch.device

    @property
    def network(self) -> TrainableNetwork:
        """What is trained."""

    def learn(self, rows: Ints, *, ahead: Ints = NOBODY) -> Outputs:
        """Run remembered messages in training mode, with gradients.

        A runner may let the steps of a round share what is costly. ``ahead`` are the messages of
        the later steps of this round: nobody in its last.
        """

    def evaluate(self, rows: Ints) -> Outputs:
        """Run remembered messages in evaluation mode; of several workers each gets its own."""

    def look_up(self, corpus: Corpus) -> Any:
        """Find what new messages read, whatever the weights."""

    def evaluate_new(self, found: Any) -> Outputs:
        """Run the new messages of ``look_up`` in evaluation mode, each by itself."""

    def neighbours(self, rows: Ints) -> dict[str, Ints]:
        """Count each remembered message's neighbours, view by view."""

    def neighbours_new(self, found: Any) -> dict[str, Ints]:
        """Count the neighbours in the memory of the messages of ``look_up``, view by view."""

    def rest(self) -> None:
        """End training: evaluation mode, and nothing kept that older weights computed."""

    def memory_states(self) -> Arrays:
        """Return the states of the memory that new messages read and that take time to compute."""

    def recall_states(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take back what ``memory_states`` returned, for the same weights and the same memory."""


def checked_states(
    arrays: Mapping[str, NDArray[Any]], readable: Mapping[str, NDArray[np.bool_]]
) -> dict[str, Tensor]:
    """Return the stored states of each name [N, width]: zero where they are not ``readable`` [N].

    Raises ValueError unless there is one stored row of float32 for each readable one.

    >>> checked_states({}, {"layer1": np.array([True, False])})
    Traceback (most recent call last):
    ValueError: the stored states do not fit the memory: layer1
    """
    wrong = [
        name
        for name in sorted(arrays.keys() | readable.keys())
        if name not in arrays
        or name not in readable
        or arrays[name].ndim != 2
        or len(arrays[name]) != readable[name].sum()
        or arrays[name].dtype != np.float32
    ]
    if wrong:
        raise ValueError(f"the stored states do not fit the memory: {', '.join(wrong)}")
    states = {}
    for name, rows in readable.items():
        whole = torch.zeros(len(rows), arrays[name].shape[1])
        there = torch.from_numpy(np.flatnonzero(rows))
        states[name] = whole.index_copy_(0, there, torch.from_numpy(arrays[name]))
    return states


def leave_training(network: TrainableNetwork) -> None:
    """Enter evaluation mode; asking every module each time would take one message too long.

    A network that rests is not touched, as other threads may be running it.
    """
    if network.training:
        network.eval()


def whole_outputs(outputs: Outputs, rows: Ints) -> Outputs:
    """Put together what several workers say of ``rows``, each of those it owns: all, on each."""
    share = current_share()
    if share.size == 1:
        return outputs
    return {
        view: replace(
            each,
            embeddings=share.whole(each.embeddings, rows),
            logits=share.whole(each.logits, rows),
        )
        for view, each in outputs.items()
    }
