"""Lists of messages in a report: the doubtful, the surely wrong, the most telling."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eventide.reports.html.chart import listed
from eventide.reports.html.class_rows import ClassRow
from eventide.reports.html.first_checks import SURE
from eventide.reports.html.markup import Html, element, joined, message_text
from eventide.reports.html.review import ReviewRule
from eventide.reports.html.subject import ReportSubject

MOST, OPEN = 60, 12
"""Messages of a list, and those that are not behind a fold."""
EVENTS = 10
"""Events whose most telling messages are listed."""

Ints = NDArray[np.int64]


def doubtful_rows(subject: ReportSubject, rule: ReviewRule) -> tuple[Ints, int]:
    """Return the most doubtful messages that did not teach the model, and how many there are."""
    fresh = np.flatnonzero(subject.fresh)
    order = fresh[np.argsort(-subject.doubt[fresh], kind="stable")]
    above = order[rule.to_read(subject.doubt[order])]
    return _once(subject, above), len(above)


def mistaken_rows(subject: ReportSubject) -> tuple[Ints, int]:
    """Return labelled messages that the model surely puts elsewhere, the surest first."""
    measured = subject.measured
    if measured is None or measured.rows is None:
        return np.zeros(0, np.int64), 0
    found = measured.rows[measured.wrong & (measured.doubt < SURE)]
    order = found[np.argsort(subject.doubt[found], kind="stable")]
    return _once(subject, order), len(order)


def message_list(subject: ReportSubject, rows: Ints) -> Html:
    """Write messages with what the model says of them; text where it is at hand."""
    first, rest = (
        element("ul", (_message(subject, int(row)) for row in part), class_="messages")
        for part in (rows[:OPEN], rows[OPEN:])
    )
    if len(rows) <= OPEN:
        return first
    folded = element("summary", f"{len(rows) - OPEN} more")
    return joined(first, element("details", folded, rest, class_="more"))


def telling_list(subject: ReportSubject, rows: list[ClassRow]) -> Html:
    """Write the most telling messages of the largest events."""
    assert subject.texts is not None
    return joined(
        joined(
            element("h3", each.event),
            listed([message_text(subject.texts[k]) for k in each.examples], class_="examples"),
        )
        for each in rows[:EVENTS]
        if each.examples
    )


def _message(subject: ReportSubject, row: int) -> Html:
    said = subject.prediction
    put, truth = int(said.predicted[row]), int(subject.truth[row])
    runner_up = _runner_up(subject, row)
    tags = [element("span", "assigned: ", element("b", subject.events[put]))]
    if said.undecided[row]:
        tags = [element("span", "no evidence for any event", class_="alarm")]
    elif truth >= 0 and truth != put:
        tags.append(element("span", f"label: {subject.events[truth]}", class_="alarm"))
    elif truth >= 0:
        tags.append(element("span", "as labelled"))
    if runner_up is not None:
        tags.append(element("span", f"else: {subject.events[runner_up]}"))
    tags.append(element("span", f"doubt {subject.doubt[row]:.2f}"))
    if subject.days is not None and not np.isnat(subject.days[row]):
        tags.append(element("span", str(subject.days[row])))
    if subject.ids is not None:
        tags.append(element("span", f"id {subject.ids[row]}"))
    text = None if subject.texts is None else message_text(subject.texts[row])
    return element("li", text, element("div", tags, class_="tags"))


def _runner_up(subject: ReportSubject, row: int) -> int | None:
    probability = subject.prediction.probability[row].copy()
    if len(probability) < 2:
        return None
    probability[subject.prediction.predicted[row]] = -1
    return int(probability.argmax())


def _once(subject: ReportSubject, rows: Ints) -> Ints:
    """Keep the first of messages with one text: nobody reads it twice."""
    if subject.texts is None:
        return rows[:MOST]
    seen: set[str] = set()
    kept = []
    for row in rows.tolist():
        text = subject.texts[row]
        if text not in seen:
            seen.add(text)
            kept.append(row)
        if len(kept) == MOST:
            break
    return np.array(kept, np.int64)
