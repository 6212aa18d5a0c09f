"""The charts of a model's report, made of what was measured."""

from __future__ import annotations

import numpy as np

from eventide.reports.html.chart import Chart
from eventide.reports.html.measured import Measured
from eventide.reports.html.message_map import MOST, map_rows, plane
from eventide.reports.html.review import ReviewRule
from eventide.reports.html.subject import ReportSubject
from eventide.reports.html.timeline import Timeline
from eventide.safe_text import safe

ROWS, LAYERS, SHOWN_MATRIX = 40, 7, 40
"""Events of a timeline's table, layers of its bars, and events of a confusion matrix."""
TOOLTIP_TEXT = 160
NO_EVIDENCE = "(no evidence)"


def confusion_chart(measured: Measured) -> Chart:
    """Draw rows of true events and columns of assigned ones; of many, the most confused."""
    matrix = measured.confusion
    errors = matrix.copy()
    for index in range(measured.classes):
        errors[index, index] = 0
    tested = matrix.sum(axis=1)
    wrong = errors.sum(axis=1)
    taken = np.append(errors.sum(axis=0)[:-1], np.zeros(len(measured.events) - measured.classes))
    present = np.flatnonzero((tested > 0) | (taken > 0))
    if len(present) > SHOWN_MATRIX:
        present = np.sort(
            present[np.argsort(-(wrong + taken)[present], kind="stable")][:SHOWN_MATRIX]
        )
    columns = [int(each) for each in present if each < measured.classes]
    if matrix[:, -1].any():
        columns.append(measured.classes)
    names = [*measured.events[: measured.classes], NO_EVIDENCE]
    cells, table = [], []
    for y, row in enumerate(present):
        for x, column in enumerate(columns):
            count = int(matrix[row, column])
            if not count:
                continue
            share = count / int(tested[row])
            same = row == column
            lines = [
                f"{safe(measured.events[row], 60)}",
                "rightly assigned" if same else f"assigned to {safe(names[column], 60)}",
                f"{count:,} of {int(tested[row]):,} messages ({share:.1%})",
            ]
            cells.append([x, y, round(share, 4), f"{count:,}", lines])
            if not same:
                table.append((measured.events[row], names[column], f"{count:,}", f"{share:.1%}"))
    table.sort(key=lambda each: -int(each[2].replace(",", "")))
    left = len(measured.events) - len(present)
    wrongs = int(measured.wrong.sum())
    return Chart(
        name="confusion",
        kind="heat",
        says=f"Confusion matrix of {len(present)} events: {wrongs:,} of {len(measured):,} messages "
        "are off the diagonal",
        data={
            "x": [safe(names[each], 60) for each in columns],
            "y": [safe(measured.events[each], 60) for each in present],
            "cells": cells,
            "written": True,
            "rotate": 50,
            "every": True,
        },
        columns=("true event", "assigned to", "messages", "of the event"),
        rows=table,
        height=150 + 24 * max(len(present), 4),
        note="Rows: true events; columns: assigned events; colour: share of the row."
        + (f" {left} events without errors are left out." if left > 0 else ""),
    )


def reliability_chart(measured: Measured) -> Chart:
    """Draw the share that is right over the stated probability."""
    curve = measured.reliability()
    bins = [
        (float(said), float(happened), int(count))
        for said, happened, count in zip(curve.said, curve.happened, curve.messages, strict=True)
    ]
    largest = max(count for _, _, count in bins)
    points = [
        [
            round(stated, 4),
            round(right, 4),
            round(count / largest, 4),
            [f"{count:,} messages", f"stated {stated:.1%}", f"right {right:.1%}"],
        ]
        for stated, right, count in bins
    ]
    return Chart(
        name="reliability",
        kind="reliability",
        says="Reliability: stated probability against the share that is right; mean distance "
        f"{measured.calibration_error:.3f}",
        data={"points": points, "xname": "stated probability", "yname": "share that is right"},
        columns=("stated", "right", "messages"),
        rows=[(f"{s:.1%}", f"{r:.1%}", f"{n:,}") for s, r, n in bins],
        height=300,
    )


def risk_chart(measured: Measured, rule: ReviewRule) -> Chart:
    """Draw the share of errors over the share of messages that the model decides."""
    curve = measured.risk_coverage()
    coverage, risk = measured.kept(rule)
    points = [
        [
            round(c, 4),
            round(r, 5),
            [f"the model decides {c:.1%}", f"{r:.2%} of these are wrong", f"doubt up to {d:.3g}"],
        ]
        for c, r, d in curve
    ]
    mark = [
        round(coverage, 4),
        round(risk, 5),
        [
            f"threshold: doubt {rule.threshold:.2g}",
            f"the model decides {coverage:.1%}",
            f"{risk:.2%} of these are wrong",
        ],
    ]
    return Chart(
        name="risk",
        kind="curve",
        says=f"Risk and coverage: with a doubt below {rule.threshold:.2g} the model decides "
        f"{coverage:.1%} of the messages, and {risk:.2%} of these are wrong",
        data={
            "points": points,
            "marks": [mark],
            "xname": "share that the model decides",
            "yname": "errors among these",
        },
        columns=("decided", "errors", "doubt up to"),
        rows=[(f"{c:.1%}", f"{r:.2%}", f"{d:.4g}") for c, r, d in curve],
        height=300,
    )


def volume_chart(line: Timeline, events: tuple[str, ...]) -> Chart:
    """Draw messages per step, the largest events as layers."""
    sizes = line.counts.sum(axis=1)
    order = [int(each) for each in np.argsort(-sizes, kind="stable") if sizes[each]]
    series = [
        {"name": safe(events[each], 60), "values": line.counts[each].tolist()}
        for each in order[:LAYERS]
    ]
    if len(order) > LAYERS:
        rest = line.counts[order[LAYERS:]].sum(axis=0).tolist()
        series.append({"name": f"{len(order) - LAYERS} others", "values": rest, "rest": True})
    top = int(line.total.argmax())
    return Chart(
        name="volume",
        kind="stacked",
        says=f"Messages per {line.unit}: most, {int(line.total[top]):,}, in the {line.unit} of "
        f"{line.labels[top]}",
        data={"labels": list(line.labels), "series": series},
        columns=(line.unit, "messages"),
        rows=[(label, f"{int(n):,}") for label, n in zip(line.labels, line.total, strict=True)],
        height=320,
        note=f"Messages per {line.unit} (UTC), by event."
        + (f" {line.undated:,} messages without a time are left out." if line.undated else ""),
    )


def events_chart(line: Timeline, events: tuple[str, ...]) -> Chart:
    """Draw when each event was talked about, the earliest first."""
    sizes = line.counts.sum(axis=1)
    shown = [int(each) for each in np.argsort(-sizes, kind="stable")[:ROWS] if sizes[each]]
    shown.sort(key=lambda each: (int(line.counts[each].argmax()), -int(sizes[each])))
    most = np.maximum(line.counts.max(axis=1), 1)
    cells = [
        [
            x,
            y,
            round(float(np.sqrt(line.counts[row, x] / most[row])), 4),
            f"{int(line.counts[row, x]):,}",
            [
                safe(events[row], 60),
                f"{line.unit} of {line.labels[x]}",
                f"{int(line.counts[row, x]):,} messages",
            ],
        ]
        for y, row in enumerate(shown)
        for x in np.flatnonzero(line.counts[row]).tolist()
    ]
    rows = []
    for row in shown:
        active = np.flatnonzero(line.counts[row])
        peak = int(line.counts[row].argmax())
        rows.append(
            (
                events[row],
                f"{int(sizes[row]):,}",
                line.labels[active[0]],
                line.labels[peak],
                line.labels[active[-1]],
            )
        )
    return Chart(
        name="timeline",
        kind="heat",
        says=f"When {len(shown)} events were talked about, per {line.unit}",
        data={
            "x": list(line.labels),
            "y": [safe(events[each], 60) for each in shown],
            "cells": cells,
            "written": False,
        },
        columns=("event", "messages", "first", "peak", "last"),
        rows=rows,
        height=70 + 22 * max(len(shown), 3),
        note=f"Colour: messages per {line.unit} against the event's own peak."
        + (f" The {ROWS} largest events are shown." if (sizes > 0).sum() > ROWS else ""),
    )


def map_chart(subject: ReportSubject, *, with_text: bool, most: int = MOST) -> Chart:
    """Lay messages out on a plane: those that did not teach the model, a sample of many."""
    candidates = np.flatnonzero(subject.fresh)
    event = np.where(subject.truth >= 0, subject.truth, subject.prediction.predicted)
    rows = map_rows(event, candidates, most)
    place = plane(subject, rows)
    present, index = np.unique(event[rows], return_inverse=True)
    points = []
    for k, row in enumerate(rows.tolist()):
        text = ""
        if with_text and subject.texts is not None:
            text = safe(subject.texts[row], TOOLTIP_TEXT)
        points.append(
            [
                round(float(place[k, 0]), 3),
                round(float(place[k, 1]), 3),
                int(index[k]),
                round(float(subject.doubt[row]), 3),
                text,
                _assigned(subject, row),
            ]
        )
    drawn = f"{len(rows):,} of {len(candidates):,}" if len(rows) < len(candidates) else "all"
    known = bool((subject.truth[rows] >= 0).any())
    return Chart(
        name="map",
        kind="map",
        says=f"Map of {len(rows):,} messages of {len(present)} events",
        data={
            "events": [safe(subject.events[each], 60) for each in present],
            "points": points,
            "wrong": "assigned to another event",
        },
        height=520,
        note=f"{drawn.capitalize()} messages, "
        + (
            "drawn at random with a few of every event first, "
            if len(rows) < len(candidates)
            else ""
        )
        + ("by their label; rings: assigned to another event." if known else "by assigned event.")
        + " Point at one to read it; click an event in the legend to hide it.",
    )


def _assigned(subject: ReportSubject, row: int) -> str:
    """Say what a message was taken for, where that is not its label."""
    truth, put = int(subject.truth[row]), int(subject.prediction.scored_as[row])
    if truth < 0 or truth == put:
        return ""
    return f"assigned to {safe(subject.events[put], 60)}" if put >= 0 else "no evidence"
