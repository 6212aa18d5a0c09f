"""Training in several phases, one after the other: decoupled methods."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from eventide.corpus.training_set import TrainingSet
from eventide.networks.trainable import Part
from eventide.runners.runner import Runner
from eventide.runtime.own_process import kept_memory
from eventide.runtime.single_precision import quick_products
from eventide.training.checkpoints import Checkpoints, Row
from eventide.training.loop import TrainingRun, Watch, train
from eventide.training.objectives.objective import Objective
from eventide.training.settings import TrainingSettings

NOT_CHOSEN = "no validation messages: all {epochs} epochs were trained and the last one kept"


@dataclass(frozen=True)
class Phase:
    """A stretch of epochs with one objective, one optimiser and one choice of what is trained."""

    objective: Objective
    settings: TrainingSettings
    trains: Part = "all"


def train_phases(
    runner: Runner,
    phases: Sequence[Phase],
    training_set: TrainingSet,
    *,
    seed: int,
    watch: Watch = lambda _: None,
    checkpoints: Checkpoints | None = None,
) -> TrainingRun:
    """Run the phases in turn, each from the best epoch of the one before.

    With several phases a row of the history says which it belongs to; epochs and steps count
    through.
    """
    history: list[Row] = []
    best = 0
    planned = sum(phase.settings.epochs for phase in phases)
    for number, phase in enumerate(phases, start=1):
        done = len(history)
        steps = history[-1]["steps"] if history else 0

        def named(row: Row, done: int = done, steps: float = steps, number: int = number) -> Row:
            row = row | {"epochs": planned}
            if number == 1:
                return row
            later = {"epoch": row["epoch"] + done, "steps": row["steps"] + steps}
            return row | later | {"phase": number}

        with kept_memory(len(training_set.corpus)), quick_products():
            run = train(
                runner,
                phase.objective.to(runner.device),
                training_set,
                phase.settings,
                seed=seed,
                trains=phase.trains,
                watch=lambda row, named=named: watch(named(row)),  # type: ignore[misc]
                checkpoints=None if checkpoints is None else checkpoints.of_phase(number),
            )
        history += [named(row) for row in run.history]
        best = done + run.best_epoch
    notes: tuple[str, ...] = ()
    if not len(training_set.validation):
        notes = (NOT_CHOSEN.format(epochs=len(history)),)
    return TrainingRun(history, best, notes)


def share(settings: TrainingSettings, part: float) -> TrainingSettings:
    """Return the settings with a share of the epochs, at least one.

    >>> share(TrainingSettings(epochs=100), 0.4).epochs
    40
    """
    return settings.model_copy(update={"epochs": max(1, round(settings.epochs * part))})
