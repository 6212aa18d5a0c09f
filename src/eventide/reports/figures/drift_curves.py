"""How far prototypes move while a method trains: learned ones (UCL) and centroids (UCL-EC)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from torch import Tensor

from eventide.errors import BadSetting
from eventide.experiments import Variant
from eventide.losses.contrastive.prototypical import PrototypeContrast
from eventide.reports.figures.recipe import FigureValues, Recipe
from eventide.reports.figures.style import MARKERS, SERIES, blank, panel_name, styled
from eventide.reports.figures.trained_runs import Runs
from eventide.tensors import unit_rows


@dataclass(frozen=True)
class Drift:
    """One method: mean cosine distance of the prototypes from those of the batch or epoch before.

    ``between_batches`` has one value per batch after the first; centroids stand still within an
    epoch. ``between_epochs`` compares the first batches of successive epochs. ``settled`` values of
    ``between_batches``, the last ones, are of the second half of the epochs.
    """

    method: str
    prototypes: str
    batches_per_epoch: int
    between_batches: tuple[float, ...]
    between_epochs: tuple[float, ...]
    settled: int

    @property
    def settled_batches(self) -> tuple[float, ...]:
        """The distances between batches in the second half of the epochs.

        >>> Drift("ucl", "learned", 1, (0.4, 0.2, 0.1), (0.4, 0.2, 0.1), 2).settled_batches
        (0.2, 0.1)
        """
        return self.between_batches[len(self.between_batches) - self.settled :]

    @property
    def settled_epochs(self) -> tuple[float, ...]:
        """The distances between epochs in the second half of the epochs."""
        return self.between_epochs[len(self.between_epochs) // 2 :]


@dataclass(frozen=True)
class Drifts(FigureValues):
    """The methods' drifts on the same split, over views and classes with training messages."""

    data: str
    seed: int
    methods: tuple[Drift, ...]

    def lines(self) -> list[str]:
        """Mean drift over the whole training, and over its second, more settled half."""
        return [
            "mean cosine distance of prototypes (0: the same direction, 1: a right angle)",
            *(
                f"{each.method} ({each.prototypes}), {name}: {_mean(values):.3e}, "
                f"in the second half {_mean(settled):.3e}"
                for each in self.methods
                for name, values, settled in (
                    (
                        f"between batches ({each.batches_per_epoch} an epoch)",
                        each.between_batches,
                        each.settled_batches,
                    ),
                    ("between epochs", each.between_epochs, each.settled_epochs),
                )
            ),
        ]


def measure(runs: Runs) -> Drifts:
    """Train each method while every batch's prototypes are compared with the batch before."""
    return Drifts(runs.name, runs.seed, tuple(drift(runs, variant) for variant in runs.methods))


def drift(runs: Runs, variant: Variant) -> Drift:
    """Train one method and return how far its prototypes moved."""
    steps = _Steps()
    # The loop calls the total loss once a batch; a hook sees the prototypes this batch is held to.
    hook = torch.nn.modules.module.register_module_forward_pre_hook(steps.record)
    try:
        run = runs.fit(variant).fitted.run  # trained anew: the hook must see every batch
    finally:
        hook.remove()
    if not steps.distances:
        raise BadSetting(
            f"{variant.name} has no prototypes whose drift could be measured",
            next_step="choose among ucl, ucl-ec and their variants",
        )
    epochs = len(run.history)
    return Drift(
        variant.name,
        variant.settings(runs.preset, runs.changes).loss.prototypes,
        steps.batches // epochs,
        tuple(steps.distances),
        tuple(steps.epoch_distances),
        sum(epoch > epochs / 2 for epoch in steps.epochs),
    )


class _Steps:
    """Watches the contrastive term: keeps the last batch's prototypes and the distances so far."""

    def __init__(self) -> None:
        self.batches = 0
        self.distances: list[float] = []
        self.epochs: list[int] = []
        """The epoch of each distance."""
        self.epoch_distances: list[float] = []
        self._last: Tensor | None = None
        self._epoch: int | None = None
        self._epoch_start: Tensor | None = None

    def record(self, module: torch.nn.Module, inputs: tuple[Any, ...]) -> None:
        """Compare the prototypes before a batch's loss; any other module is ignored."""
        if not isinstance(module, PrototypeContrast):
            return
        (batch,) = inputs
        epoch = batch.epoch
        prototypes = torch.stack(
            [
                unit_rows(module.prototypes.of(view).detach()[batch.statistics.present].double())
                for view in module.prototypes.views
            ]
        )
        self.batches += 1
        if self._last is not None:
            self.distances.append(_distance(prototypes, self._last))
            self.epochs.append(epoch)
        if epoch != self._epoch:
            if self._epoch_start is not None:
                self.epoch_distances.append(_distance(prototypes, self._epoch_start))
            self._epoch, self._epoch_start = epoch, prototypes
        self._last = prototypes


def _distance(one: Tensor, other: Tensor) -> float:
    """Mean of 1 - cosine of unit rows, by the squared chord: exact where they hardly differ."""
    return float(((one - other) ** 2).sum(dim=-1).mean() / 2)


@styled
def draw(values: Drifts) -> Figure:
    """Draw the drift of every batch and of every epoch, on a logarithmic scale."""
    figure = blank(3.2)
    panels = figure.subplots(1, 2, sharey=True)
    for index, each in enumerate(values.methods):
        label = f"{each.method} ({each.prototypes})"
        for axes, moves in zip(panels, (each.between_batches, each.between_epochs), strict=True):
            moved = np.array(moves)
            steps = np.arange(2, len(moved) + 2)
            axes.plot(
                steps[moved > 0],
                moved[moved > 0],
                color=SERIES[index % len(SERIES)],
                marker=MARKERS[index % len(MARKERS)],
                ms=3,
                lw=0.8,
                label=label,
            )
    for axes, name in zip(panels, ("batch", "epoch"), strict=True):
        axes.set_yscale("log")
        axes.set_xlabel(name)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.grid(axis="y")
        panel_name(axes, f"From the {name} before")
    panels[0].set_ylabel("mean cosine distance")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    figure.suptitle(
        f"How far prototypes move during training: {values.data}\n"
        "batches after which nothing moved are left out"
    )
    return figure


def _mean(values: tuple[float, ...]) -> float:
    return float(np.mean(values)) if values else 0.0


FIGURE = Recipe(measure, draw, methods=("ucl", "ucl-ec"))
