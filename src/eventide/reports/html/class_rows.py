"""What a report says of each event: its size, how well it is recognised, its words, examples."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from eventide.reports.html.chart import listed, scrolling
from eventide.reports.html.keywords import keywords, telling
from eventide.reports.html.markup import Html, element, joined, message_text
from eventide.reports.html.measured import Measured
from eventide.reports.html.subject import ReportSubject

SHOWN = 200
"""Events in the table; a page with thousands would not be read."""

EXAMPLES = 3
"""Messages that show what an event is."""


@dataclass(frozen=True)
class ClassRow:
    """One event. ``messages`` are the scored ones of it, or those assigned to it without labels.

    Recall and precision are None where nothing is scored, ``precision`` also where nothing was
    assigned to the event. ``confused`` is the event that most of its messages go to wrongly.
    """

    messages: int
    doubt: float | None
    recall: float | None = None
    precision: float | None = None
    confused: str | None = None
    confused_messages: int = 0
    event: str = ""
    training: int = 0
    known: bool = True
    words: tuple[str, ...] = ()
    examples: tuple[int, ...] = ()


def class_rows(subject: ReportSubject) -> list[ClassRow]:
    """Describe every event, the weakest first where labels say so, else the largest."""
    words, measured = _words(subject), subject.measured
    rows = []
    for index, event in enumerate(subject.events):
        told = words[index] if index < subject.classes else []
        row = _unmeasured(subject, index) if measured is None else _measured(measured, index)
        sizes = subject.training_sizes()
        rows.append(
            replace(
                row,
                event=event,
                training=int(sizes[index]) if index < subject.classes else 0,
                known=index < subject.classes,
                words=tuple(told),
                examples=_examples(subject, index, told),
            )
        )
    if measured is not None:
        return sorted(rows, key=lambda r: (r.recall is None, r.recall or 0.0, -r.messages, r.event))
    return sorted(rows, key=lambda r: (-r.messages, -r.training, r.event))


def _unmeasured(subject: ReportSubject, index: int) -> ClassRow:
    """Count the messages of an event without knowing whether they are right."""
    own = subject.fresh & (subject.event == index)
    return ClassRow(int(own.sum()), float(subject.doubt[own].mean()) if own.any() else None)


def _measured(measured: Measured, index: int) -> ClassRow:
    """Compare the labels of an event with what its messages were assigned to."""
    own, known = measured.truth == index, index < measured.classes
    assigned = measured.confusion[index].copy()
    total, put = int(assigned.sum()), int(measured.confusion[:, index].sum()) if known else 0
    right = int(assigned[index]) if known else 0
    assigned[-1] = 0
    if known:
        assigned[index] = 0
    return ClassRow(
        messages=total,
        doubt=float(measured.doubt[own].mean()) if total else None,
        recall=right / total if total else None,
        precision=right / put if put else None,
        confused=measured.events[int(assigned.argmax())] if assigned.any() else None,
        confused_messages=int(assigned.max()),
    )


def _words(subject: ReportSubject) -> list[list[str]]:
    if subject.texts is None:
        return [[] for _ in range(subject.classes)]
    return keywords(subject.texts, subject.event, subject.classes)


def _examples(subject: ReportSubject, index: int, words: list[str]) -> tuple[int, ...]:
    """Choose messages that show what the event is: rightly assigned, as far as one can know.

    Where these are too few, messages that carry its label.
    """
    if subject.texts is None:
        return ()
    right = (subject.prediction.predicted == index) & ~subject.prediction.undecided
    right &= (subject.truth < 0) | (subject.truth == index)
    best: list[int] = []
    for rows in (right & subject.fresh, right, subject.truth == index):
        found = telling(subject.texts, np.flatnonzero(rows), words, subject.doubt, EXAMPLES)
        best = max(best, found.tolist(), key=len)
        if len(best) == EXAMPLES:
            break
    return tuple(best)


def class_table(rows: list[ClassRow], subject: ReportSubject) -> Html:
    """Write the events as a table that can be sorted, and that stacks up on a phone."""
    heads: list[tuple[str, str]] = [("event", "text"), ("training messages", "")]
    heads += (
        [("tested", ""), ("recall", ""), ("precision", "")]
        if subject.measured is not None
        else [("assigned", "")]
    )
    heads += [("mean doubt", "")]
    heads += [("most confused with", "text")] if subject.measured is not None else []
    head = element(
        "tr",
        (
            element(
                "th",
                element("button", name, type="button"),
                scope="col",
                class_=None if kind else "number",
                role="columnheader",
            )
            for name, kind in heads
        ),
        role="row",
    )
    body = [_row(each, subject) for each in rows[:SHOWN]]
    table = element(
        "table",
        element("thead", head, role="rowgroup"),
        element("tbody", body, role="rowgroup"),
        class_="stacks",
        data_sortable=True,
        role="table",
    )
    left = len(rows) - SHOWN
    more = (
        element("p", f"{left:,} further events are not shown.", class_="soft") if left > 0 else ""
    )
    return joined(scrolling(table, "Table of events", tall=True), more)


def _row(row: ClassRow, subject: ReportSubject) -> Html:
    figures = [_figure("training messages", row.training, f"{row.training:,}")]
    if subject.measured is not None:
        figures += [
            _figure("tested", row.messages, f"{row.messages:,}"),
            _share("recall", row.recall),
            _share("precision", row.precision),
        ]
    else:
        figures.append(_figure("assigned", row.messages, f"{row.messages:,}"))
    figures.append(
        _figure("mean doubt", row.doubt, "–" if row.doubt is None else f"{row.doubt:.3f}")
    )
    if subject.measured is not None:
        named = f"{row.confused} ({row.confused_messages:,})" if row.confused else "–"
        figures.append(
            element(
                "td",
                named,
                data_name="most confused with",
                data_value=row.confused or "",
                role="cell",
            )
        )
    return element(
        "tr",
        element(
            "th",
            row.event,
            None if row.known else element("span", " not known to the model", class_="soft"),
            _more(row, subject),
            scope="row",
            data_value=row.event,
            role="rowheader",
        ),
        figures,
        role="row",
    )


def _more(row: ClassRow, subject: ReportSubject) -> Html | None:
    words = element("div", ", ".join(row.words), class_="words") if row.words else None
    examples = None
    if row.examples and subject.texts is not None:
        texts = [message_text(subject.texts[index]) for index in row.examples]
        examples = element(
            "details",
            element("summary", "Examples"),
            listed(texts, class_="examples"),
        )
    return joined(words, examples)


def _figure(name: str, value: float | None, shown: str) -> Html:
    key = -1 if value is None else value
    return element(
        "td", shown, class_="number", data_name=name, data_value=f"{key:.6g}", role="cell"
    )


def _share(name: str, value: float | None) -> Html:
    if value is None:
        return _figure(name, None, "–")
    bar = element(
        "span",
        Html(f'<i style="width:{100 * value:.0f}%"></i>'),
        class_="bar",
        aria_hidden="true",
    )
    return element(
        "td",
        f"{value:.1%}",
        bar,
        class_="number",
        data_name=name,
        data_value=f"{value:.6g}",
        role="cell",
    )
