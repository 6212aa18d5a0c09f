"""How much do the weights of the loss terms matter? ACC and F1 over lambda 1, 2 and 3."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from eventide.errors import EventideError
from eventide.experiments import Results, Variant
from eventide.experiments.results import Spread
from eventide.reports.figures.recipe import FigureValues, Recipe
from eventide.reports.figures.style import (
    BLUE,
    GREY,
    ORANGE,
    blank,
    counted,
    panel_name,
    percent,
    styled,
)
from eventide.reports.figures.trained_runs import Runs
from eventide.settings import Settings


@dataclass(frozen=True)
class Weight:
    """One lambda: its setting, what it weighs, and the paper's values for it."""

    name: str
    setting: str
    term: str
    values: tuple[float, ...]


WEIGHTS = (
    Weight("λ1", "loss.calibration_weight", "calibration", (1e-3, 1e-2, 1e-1, 1.0, 10.0)),
    Weight("λ2", "loss.contrastive_weight", "contrastive term", (1e-3, 1e-2, 1e-1, 1.0, 10.0)),
    Weight("λ3", "loss.agreement_weight", "agreement of views", (1e-2, 1e-1, 1.0, 10.0, 100.0)),
)


@dataclass(frozen=True)
class Point:
    """Test results of a method with one lambda changed; None where no run finished."""

    method: str
    weight: str
    value: float
    accuracy: Spread | None
    macro_f1: Spread | None


@dataclass(frozen=True)
class Sensitivity(FigureValues):
    """All points, the method's own value of each lambda, and what went wrong."""

    data: str
    method: str
    seeds: tuple[int, ...]
    own: dict[str, float]
    points: tuple[Point, ...]
    failures: tuple[str, ...]

    def lines(self) -> list[str]:
        """One line per value, mean and deviation over the seeds."""
        return [
            f"{self.method}, seeds {', '.join(map(str, self.seeds))}; its own values: "
            + ", ".join(f"{name} {value:g}" for name, value in self.own.items()),
            f"{'weight':<8}{'value':>8}{'ACC %':>18}{'F1 %':>18}",
            *(
                f"{each.weight:<8}{each.value:>8g}{percent(each.accuracy, 'no run'):>18}"
                f"{percent(each.macro_f1, 'no run'):>18}"
                for each in self.points
            ),
            *(f"failed: {each}" for each in self.failures),
        ]


def measure(runs: Runs) -> Sensitivity:
    """Run the method with every value of every lambda and every seed, in worker processes.

    Finished runs are kept in ``runs.folder`` and not done again.
    """
    base = runs.methods[0]
    changed = {
        (weight.name, value): Variant(
            f"{base.name}, {weight.setting}={value:g}",
            base.method,
            {**base.changes, weight.setting: value},
            base.views,
        )
        for weight in WEIGHTS
        for value in weight.values
    }
    results = runs.compared(tuple(changed.values()))
    if len(results.failures) == len(changed) * len(runs.seeds):
        raise EventideError("no run finished", where=str(results.failures[0].error))
    return Sensitivity(
        data=runs.name,
        method=base.name,
        seeds=tuple(runs.seeds),
        own=_own(base.settings(runs.preset, runs.changes)),
        points=tuple(
            _point(results, base.name, weight, value, variant)
            for (weight, value), variant in changed.items()
        ),
        failures=tuple(f"{run.variant}, seed {run.seed}: {run.error}" for run in results.failures),
    )


def _point(results: Results, method: str, weight: str, value: float, variant: Variant) -> Point:
    return Point(
        method,
        weight,
        value,
        results.spread(variant.name, lambda outcome: outcome.test.accuracy),
        results.spread(variant.name, lambda outcome: outcome.test.macro_f1),
    )


def _own(settings: Settings) -> dict[str, float]:
    loss = settings.loss.model_dump()
    return {each.name: float(loss[each.setting.removeprefix("loss.")]) for each in WEIGHTS}


@styled
def draw(values: Sensitivity) -> Figure:
    """Draw one panel per lambda; bands are one deviation over the seeds."""
    figure = blank(3.1)
    panels = figure.subplots(1, len(WEIGHTS), sharey=True)
    for axes, weight in zip(panels, WEIGHTS, strict=True):
        own = [each for each in values.points if each.weight == weight.name]
        weights = np.array([each.value for each in own])
        _line(axes, weights, [each.accuracy for each in own], "ACC", BLUE, "o")
        _line(axes, weights, [each.macro_f1 for each in own], "macro-F1", ORANGE, "s")
        axes.axvline(values.own[weight.name], color=GREY, ls=":", lw=1, label="value in use")
        axes.set_xscale("log")
        axes.set_xticks(weights, [f"{value:g}" for value in weights])
        axes.minorticks_off()
        axes.set_xlabel(f"{weight.name} (logarithmic)")
        axes.grid(axis="y")
        panel_name(axes, f"{weight.name}: {weight.term}")
    panels[0].set_ylabel("% on test messages")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    seeds = counted(len(values.seeds), "seed", "seeds")
    figure.suptitle(
        f"How much the weights of the loss matter: {values.data}, {values.method}, {seeds}"
    )
    return figure


def _line(
    axes: Axes,
    weights: np.ndarray[tuple[int], np.dtype[np.float64]],
    spreads: list[Spread | None],
    label: str,
    colour: str,
    marker: str,
) -> None:
    mean = np.array([np.nan if each is None else 100 * each.mean for each in spreads])
    apart = np.array([100 * (each.deviation or 0.0) if each else 0.0 for each in spreads])
    axes.plot(weights, mean, color=colour, marker=marker, ms=4, label=label)
    axes.fill_between(weights, mean - apart, mean + apart, color=colour, alpha=0.2, lw=0)


FIGURE = Recipe(measure, draw, methods=("ucl-ec",), seeds=True)
