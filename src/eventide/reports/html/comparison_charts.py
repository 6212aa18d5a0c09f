"""The charts of a comparison: methods by regimes, intervals, seconds, and recall by event."""

from __future__ import annotations

from operator import eq, gt

import numpy as np

from eventide.experiments.run_log import Outcome
from eventide.reports.html.chart import Chart
from eventide.reports.html.compared import Compared
from eventide.reports.tables.comparison_tables import MEASURES as PLAIN_MEASURES
from eventide.reports.tables.comparison_tables import tested
from eventide.reports.tables.regime_titles import short_title
from eventide.safe_text import safe

BARS = 4
"""Methods whose recall is drawn event by event."""
EVENTS = 40
"""Events of that chart, the worst recognised first."""
PANELS = 8
"""Regimes whose intervals are drawn."""
TITLES = {
    "accuracy": "ACC",
    "macro_f1": "macro-F1",
    "nmi": "NMI",
    "ami": "AMI",
    "ari": "ARI",
    "auroc": "AUROC",
}


def regime_heat(compared: Compared) -> Chart:
    """Draw the accuracy of methods by regime."""
    columns = {
        name: {each: part.spread(each, tested("accuracy")) for each in compared.names}
        for name, part in compared.parts.parts.items()
    }
    values = {
        short_title(regime): {name: None if s is None else s.mean for name, s in found.items()}
        for regime, found in columns.items()
    }
    return _heat(compared.names, values, "Accuracy (%) of methods by regime")


def measure_heat(compared: Compared) -> Chart:
    """Draw the measures of methods."""
    part = compared.first
    values = {}
    for measure in PLAIN_MEASURES:
        found = {each: part.spread(each, tested(measure)) for each in compared.names}
        if any(found.values()):
            values[TITLES.get(measure, measure)] = {
                name: None if spread is None else spread.mean for name, spread in found.items()
            }
    return _heat(compared.names, values, "Measures (%) of methods")


def _heat(names: list[str], values: dict[str, dict[str, float | None]], says: str) -> Chart:
    """Draw shares; colour is the rank in the column: one bad method must not pale the others."""
    cells, columns = [], list(values)
    for x, column in enumerate(columns):
        known = [each for each in values[column].values() if each is not None]
        high = max(known, default=0.0)
        for y, name in enumerate(names):
            value = values[column][name]
            if value is None:
                continue
            below, same = (sum(test(value, each) for each in known) for test in (gt, eq))
            share = (below + (same - 1) / 2) / (len(known) - 1) if len(known) > 1 else 1.0
            best = " (best)" if value == high else ""
            lines = [safe(name, 60), f"{column}: {100 * value:.2f}{best}"]
            cells.append([x, y, round(share, 4), f"{100 * value:.1f}", lines])
    rows = [(name, *(_percent(values[column][name]) for column in columns)) for name in names]
    return Chart(
        name="accuracy",
        kind="heat",
        says=f"{says}: {len(names)} methods, {len(columns)} columns",
        data={
            "x": columns,
            "y": [safe(name, 60) for name in names],
            "cells": cells,
            "written": True,
            "wide": True,
            "top": True,
            "rotate": 40,
            "every": True,
        },
        columns=("method", *columns),
        rows=rows,
        height=110 + 24 * max(len(names), 3),
        note=f"{says}, the best on average first. Colour: rank in the column.",
    )


def interval_panels(compared: Compared) -> list[tuple[str, Chart]]:
    """Draw how far methods are from the reference, a chart for each regime with its title."""
    found = []
    for index, (regime, known) in enumerate(list(compared.differences.items())[:PANELS]):
        own = {name: known[name] for name in compared.names if name in known}
        if not own:
            continue
        rows = []
        for name, each in own.items():
            low, high, middle = (
                100 * value
                for value in (
                    each.bootstrap.low,
                    each.bootstrap.high,
                    each.bootstrap.difference,
                )
            )
            lines = [
                safe(name, 60),
                f"{middle:+.2f} points of accuracy",
                f"95 % interval {low:+.2f} to {high:+.2f}",
            ]
            rows.append([safe(name, 60), round(low, 4), round(high, 4), round(middle, 4), lines])
        title = short_title(regime)
        chart = Chart(
            name=f"intervals-{index}",
            kind="intervals",
            says=f"Difference in accuracy from {compared.reference}, {title}: {len(rows)} methods",
            data={"rows": rows, "xname": "points of accuracy", "line": 0},
            columns=("method", "difference", "low", "high"),
            rows=[(str(r[0]), f"{r[3]:+.2f}", f"{r[1]:+.2f}", f"{r[2]:+.2f}") for r in rows],
            height=90 + 22 * max(len(rows), 2),
        )
        found.append((title, chart))
    return found


def seconds_chart(compared: Compared) -> Chart | None:
    """Draw the mean seconds to fit."""
    found: dict[str, float] = {}
    for name in compared.names:
        values = [
            run.seconds.fit for part in compared.parts.parts.values() for run in part.outcomes(name)
        ]
        if values:
            found[name] = float(np.mean(values))
    if not found:
        return None
    ordered = sorted(found, key=lambda name: found[name])
    return Chart(
        name="seconds",
        kind="bars",
        says=f"Mean seconds to fit: {ordered[0]} is the fastest, {ordered[-1]} the slowest",
        data={
            "labels": [safe(name, 60) for name in ordered],
            "series": [
                {"name": "seconds to fit", "values": [round(found[name], 3) for name in ordered]}
            ],
        },
        columns=("method", "seconds to fit"),
        rows=[(name, f"{found[name]:.2f}") for name in ordered],
        height=70 + 22 * max(len(ordered), 2),
        note="Mean over all runs, wall clock.",
    )


def recall_bars(compared: Compared) -> Chart | None:
    """Draw the recall of each event for the reference and the most accurate methods."""
    for regime, part in compared.parts.parts.items():
        shown = [compared.reference, *(n for n in compared.names if n != compared.reference)]
        outcomes = {name: part.outcomes(name) for name in shown[:BARS] if part.outcomes(name)}
        sizes = {each.classes for own in outcomes.values() for each in own}
        if outcomes and len(sizes) == 1:
            return _recall_chart(compared, regime, outcomes, sizes.pop())
    return None


def _recall_chart(
    compared: Compared, regime: str, outcomes: dict[str, list[Outcome]], classes: int
) -> Chart | None:
    recalls = {name: _recall(own, classes) for name, own in outcomes.items()}
    first = next(iter(recalls.values()))
    present = [k for k in range(classes) if not np.isnan(first[k])]
    present.sort(key=lambda k: (float(np.mean([each[k] for each in recalls.values()])), k))
    if not present:
        return None
    labels = [compared.events[k] if k < len(compared.events) else f"event {k + 1}" for k in present]
    cut, labels = present[:EVENTS], labels[:EVENTS]
    where = f" in {regime}" if regime else ""
    return Chart(
        name="recall",
        kind="bars",
        says=f"Recall of {len(cut)} events{where}, for {', '.join(recalls)}",
        data={
            "labels": [safe(each, 60) for each in labels],
            "series": [
                {"name": safe(name, 60), "values": [round(float(each[k]), 4) for k in cut]}
                for name, each in recalls.items()
            ],
            "percent": True,
        },
        columns=("event", *recalls),
        rows=[
            (label, *(f"{each[k]:.1%}" for each in recalls.values()))
            for label, k in zip(labels, cut, strict=True)
        ],
        height=90 + (10 + 9 * len(recalls)) * max(len(cut), 3),
        note=f"Share of each event's test messages that are recognised{where}, mean over runs; the "
        "worst event first.",
    )


def _recall(outcomes: list[Outcome], classes: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Average the recall of each class over runs; NaN for one that was never tested."""
    right, tested_messages = np.zeros(classes), np.zeros(classes)
    for each in outcomes:
        truth, predicted = np.array(each.truth), np.array(each.predicted)
        known = truth < classes
        tested_messages += np.bincount(truth[known], minlength=classes)
        right += np.bincount(truth[known & (truth == predicted)], minlength=classes)
    found = np.full(classes, np.nan)
    np.divide(right, tested_messages, out=found, where=tested_messages > 0)
    return found


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.2f}"
