"""Where a run stands, kept on disk, and which epoch is the best so far."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from eventide.errors import DamagedBundle, OutputError
from eventide.networks.trainable import TrainableNetwork
from eventide.runtime.share import current_share
from eventide.storage import (
    damaged,
    expanded,
    holds_manifest,
    read_bundle,
    remove_empty,
    write_bundle,
)
from eventide.training.ema import Ema


@dataclass
class Best:
    """The best epoch so far and a copy of its weights.

    The higher rank wins, compared value by value; of equal ones the earlier epoch.

    >>> best = Best()
    >>> best.offer(1, (0.8, 0.7, -1.0), weights=dict)
    True
    >>> best.offer(2, (0.8, 0.7, -1.0), weights=dict)
    False
    >>> best.offer(3, (0.8, 0.7, -0.9), weights=dict), best.epoch, best.rose
    (True, 3, 1)
    """

    epoch: int = 0
    rose: int = 0
    """When a value other than the last of the rank last rose: the last one may creep for ever."""
    rank: tuple[float, ...] | None = None
    weights: dict[str, Tensor] = field(default_factory=dict)

    def offer(
        self, epoch: int, rank: tuple[float, ...], weights: Callable[[], dict[str, Tensor]]
    ) -> bool:
        """Keep this epoch if it beats the best so far; say whether it did."""
        if self.rank is not None and rank <= self.rank:
            return False
        if self.rank is None or rank[:-1] > self.rank[:-1]:
            self.rose = epoch
        self.epoch, self.rank, self.weights = epoch, rank, weights()
        return True


KIND = "checkpoint"
Row = dict[str, float]


def by_accuracy(row: Row) -> tuple[float, ...]:
    """Rank an epoch by validation accuracy, then macro-F1, then the lower loss.

    Where nothing was validated, a later epoch is a better one.
    """
    return (
        row.get("validation_accuracy", 0.0),
        row.get("validation_f1", 0.0),
        -row.get("validation_loss", -row["epoch"]),
    )


def by_nll(row: Row) -> tuple[float, ...]:
    """Rank an epoch by the class-averaged validation NLL; only thousandths count as a rise.

    >>> by_nll({"epoch": 1, "validation_nll": 0.12345})
    (-0.123, -0.12345)
    """
    nll = row.get("validation_nll", -row["epoch"])
    return (-round(nll, 3), -nll)


RANKS: Mapping[str, Callable[[Row], tuple[float, ...]]] = {
    "accuracy": by_accuracy,
    "nll": by_nll,
}
"""How epochs are ranked, by the names of ``training.select_by``."""


@dataclass
class Progress:
    """All that changes while training: weights, their EMA, optimiser, best epoch, history."""

    network: TrainableNetwork
    objective: nn.Module
    optimiser: torch.optim.Optimizer
    ema: Ema
    rank: Callable[[Row], tuple[float, ...]] = by_accuracy
    best: Best = field(default_factory=Best)
    history: list[Row] = field(default_factory=list)

    @property
    def epoch(self) -> int:
        """How many epochs are done."""
        return len(self.history)

    @property
    def steps(self) -> int:
        """How many steps are done."""
        return int(self.history[-1]["steps"]) if self.history else 0

    def stale(self, patience: int | None, steps: int = 0) -> bool:
        """Whether no better epoch came for ``patience`` epochs and for this many ``steps``."""
        if patience is None or self.epoch - self.best.rose < patience:
            return False
        since = self.history[self.best.rose - 1]["steps"] if self.best.rose else 0
        return self.steps - since >= steps

    def record(self, row: Row) -> None:
        """Close an epoch: add its row and keep its weights if it is the best."""
        self.history.append(row)
        self.best.offer(
            self.epoch,
            self.rank(row),
            weights=lambda: {
                **_copy("network", self.network),
                **_copy("objective", self.objective),
            },
        )

    def restore_best(self) -> None:
        """Put the best epoch's weights back into network and objective."""
        self._load(self.best.weights)

    def _load(self, tensors: Mapping[str, Tensor]) -> None:
        for prefix, module in (("network", self.network), ("objective", self.objective)):
            start = f"{prefix}."
            module.load_state_dict(
                {k.removeprefix(start): v for k, v in tensors.items() if k.startswith(start)}
            )

    def state(self) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
        """Return arrays by file, and the facts of the manifest."""
        now = {**_copy("network", self.network), **_copy("objective", self.objective)}
        optimiser = {
            f"{index}.{name}": value
            for index, state in self.optimiser.state_dict()["state"].items()
            for name, value in state.items()
        }
        arrays = {
            "weights": now,
            "best": self.best.weights,
            "optimiser": optimiser,
            "ema": self.ema.state(),
            "noise": {"state": self.network.noise.state},
        }
        facts = {
            "history": self.history,
            "best": [self.best.epoch, self.best.rose, *(self.best.rank or ())],
        }
        return {name: _numpy(content) for name, content in arrays.items()}, facts

    def restore(self, arrays: Mapping[str, Mapping[str, Any]], facts: Mapping[str, Any]) -> None:
        """Continue from what ``state`` returned."""
        self._load(_torch(arrays["weights"]))
        state: dict[int, dict[str, Tensor]] = {}
        for name, value in _torch(arrays["optimiser"]).items():
            index, _, key = name.partition(".")
            state.setdefault(int(index), {})[key] = value
        groups = self.optimiser.state_dict()["param_groups"]
        self.optimiser.load_state_dict({"state": state, "param_groups": groups})
        self.ema.restore(_torch(arrays["ema"]))
        self.network.noise.state = _torch(arrays["noise"])["state"]
        self.history = [dict(row) for row in facts["history"]]
        epoch, rose, *rank = facts["best"]
        self.best = Best(epoch, rose, tuple(rank), _torch(arrays["best"]))


@dataclass(frozen=True)
class Checkpoints:
    """A directory with the latest checkpoint of each phase, written every ``every`` epochs.

    ``signature`` describes the run (settings, seed, data); a checkpoint of another run is refused.
    """

    path: Path
    signature: Mapping[str, Any]
    every: int = 1
    resume_run: bool = True
    phase: int = 1

    def of_phase(self, number: int) -> Checkpoints:
        """Return the same directory for another phase of the run."""
        return replace(self, phase=number)

    @property
    def folder(self) -> Path:
        """Where the checkpoint of this phase is."""
        return self.path / f"phase-{self.phase}"

    def save(self, progress: Progress) -> None:
        """Write a checkpoint if this epoch is due; of several workers the first writes."""
        if current_share().first and self.every and progress.epoch % self.every == 0:
            arrays, facts = progress.state()
            write_bundle(self.folder, KIND, {"signature": dict(self.signature), **facts}, arrays)

    def resume(self, progress: Progress) -> None:
        """Continue from the checkpoint, if there is one and resuming was asked for."""
        if not self.resume_run or not holds_manifest(self.folder):
            return
        bundle = read_bundle(self.folder, KIND)
        stored = bundle.facts.get("signature")
        known = stored if isinstance(stored, dict) else {}
        changed = [part for part, value in self.signature.items() if known.get(part, ...) != value]
        if changed:
            raise DamagedBundle(
                f"the checkpoint belongs to another run: {', '.join(changed)} differ",
                where=str(self.folder),
                next_step="resume with the same data and settings, or start anew: --overwrite"
                " (in Python, remove the checkpoint's folder)",
            )
        try:
            progress.restore(bundle.arrays, bundle.facts)
        except (KeyError, ValueError, TypeError, IndexError, RuntimeError) as error:
            raise damaged(self.folder, f"the checkpoint does not fit this run ({error})") from None


def has_checkpoint(path: Path | str) -> bool:
    """Whether a run was kept at ``path``, be it sound or damaged."""
    return any(holds_manifest(each) for each in _phases(path))


def check_checkpoints(path: Path | str, *, resume: bool) -> None:
    """Refuse to resume where nothing is, and to start anew where a run could be continued."""
    if resume and not has_checkpoint(path):
        raise OutputError(
            "there is no checkpoint to resume from",
            where=str(path),
            next_step="leave out --resume (resume=True) to start a run",
        )
    if not resume and has_checkpoint(path):
        raise OutputError(
            "there is a checkpoint of an earlier run",
            where=str(path),
            next_step="continue with --resume (resume=True), or start anew with --overwrite"
            " (in Python, remove the folder first)",
        )


def drop_checkpoints(path: Path | str) -> None:
    """Remove the checkpoints of a run; anything else in the folder stays."""
    for each in (*_phases(path), *expanded(path).glob(".phase-*")):
        if all(file.suffix in (".json", ".safetensors") for file in each.glob("*")):
            shutil.rmtree(each, ignore_errors=True)
    remove_empty([expanded(path)])


def _phases(path: Path | str) -> list[Path]:
    """Return where checkpoints are, or were before a writer that died moved them aside."""
    aside = (each.name[1:].partition(".")[0] for each in expanded(path).glob(".phase-*.previous"))
    return [*expanded(path).glob("phase-*"), *(expanded(path) / name for name in aside)]


def _copy(prefix: str, module: nn.Module) -> dict[str, Tensor]:
    return {f"{prefix}.{name}": value.clone() for name, value in module.state_dict().items()}


def _numpy(tensors: Mapping[str, Tensor]) -> dict[str, Any]:
    return {name: value.detach().cpu().numpy() for name, value in tensors.items()}


def _torch(arrays: Mapping[str, Any]) -> dict[str, Tensor]:
    return {name: torch.from_numpy(value) for name, value in arrays.items()}
