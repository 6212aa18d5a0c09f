"""The report of a model, or of messages as a model sees them: one page to show a colleague."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import eventide
from eventide.progress import step
from eventide.reports.html.chart import Chart
from eventide.reports.html.class_rows import ClassRow, class_rows, class_table
from eventide.reports.html.first_checks import SURE, checks_html, first_checks
from eventide.reports.html.html_page import HtmlPage, Section
from eventide.reports.html.markup import Html, element, fact_cards, joined
from eventide.reports.html.message_lists import (
    doubtful_rows,
    message_list,
    mistaken_rows,
    telling_list,
)
from eventide.reports.html.model_facts import (
    date_span,
    notes_html,
    quality_notes,
    settings_html,
)
from eventide.reports.html.report_charts import (
    confusion_chart,
    events_chart,
    map_chart,
    reliability_chart,
    risk_chart,
    volume_chart,
)
from eventide.reports.html.report_words import many, meanings, summary
from eventide.reports.html.review import ACCURACY, ReviewRule, review_rule
from eventide.reports.html.subject import ReportSubject, subject_of
from eventide.reports.html.timeline import timeline

if TYPE_CHECKING:
    from eventide.model import EventClassifier


def model_report(
    model: EventClassifier,
    messages: Any = None,
    *,
    name: str = "",
    title: str = "",
    with_text: bool = True,
    accuracy: float = ACCURACY,
) -> HtmlPage:
    """Make the page; ``messages`` are of any kind, labelled or not, called ``name``.

    Without messages it is about the model and what it remembers. ``with_text=False`` keeps every
    text, id and keyword of messages out of the page. ``accuracy`` is the share that should be right
    of what nobody reads: it sets the threshold of doubt.
    """
    rule = review_rule(model, accuracy)
    with step("predicting the messages of the report"):
        subject = subject_of(model, messages, name)
    if not with_text:
        subject = subject.without_text()
    with step("describing the events of the report"):
        rows = class_rows(subject)
    with step("drawing the map of the report"):
        charts = _charts(subject, rule, with_text)
    sections = [
        Section("check", "What to check first", checks_html(first_checks(subject, rows, rule))),
        _events(subject, rows),
        *_quality(charts),
        *_time(charts),
        *_map(charts),
        *_lists(subject, rule),
        *_telling(subject, rows),
        Section("data", "Notes on the data", notes_html(quality_notes(subject))),
        Section("settings", "How the model came about", settings_html(subject)),
        Section("meaning", "What the numbers mean", meanings(_explained(subject, charts))),
    ]
    about, *told = summary(subject, rows, rule)
    lead = joined(
        element("p", " ".join(told)),
        element("p", about, class_="soft"),
        _facts(subject, rows, rule),
    )
    shown = title or ("A model of events" if subject.own else f"Events in {subject.name}")
    return HtmlPage(
        title=shown,
        kicker="Eventide report",
        lead=lead,
        sections=sections,
        footer=_footer(subject),
    )


def _charts(subject: ReportSubject, rule: ReviewRule, with_text: bool) -> dict[str, Chart]:
    found: list[Chart] = []
    measured = subject.measured
    if measured is not None:
        found += [
            confusion_chart(measured),
            reliability_chart(measured),
            risk_chart(measured, rule),
        ]
    if subject.days is not None:
        line = timeline(subject.days, subject.event, len(subject.events))
        if len(line.labels) > 1:
            found += [volume_chart(line, subject.events), events_chart(line, subject.events)]
    if len(subject) > 3:
        found.append(map_chart(subject, with_text=with_text))
    return {each.name: each for each in found}


def _events(subject: ReportSubject, rows: list[ClassRow]) -> Section:
    if subject.measured is not None:
        told = f"Measured on {subject.measured.what}, the weakest event first."
    elif subject.own:
        told = "The events that the model knows, the largest first."
    else:
        told = "What the messages were assigned to, the largest event first."
    return Section(
        "events",
        "Events",
        joined(element("p", told, class_="soft"), class_table(rows, subject)),
    )


def _quality(charts: dict[str, Chart]) -> list[Section]:
    if "confusion" not in charts:
        return []
    confusion, reliability, risk = (charts[each] for each in ("confusion", "reliability", "risk"))
    both = element(
        "div",
        element("div", element("h3", "Does it keep what it promises?"), reliability.html()),
        element("div", element("h3", "How much can it decide alone?"), risk.html()),
        class_="pair",
    )
    return [
        Section("confusion", "What is taken for what", confusion.html(), (confusion,)),
        Section("trust", "How far to trust it", both, (reliability, risk)),
    ]


def _time(charts: dict[str, Chart]) -> list[Section]:
    shown = tuple(charts[each] for each in ("volume", "timeline") if each in charts)
    if not shown:
        return []
    return [Section("time", "When", joined(each.html() for each in shown), shown)]


def _map(charts: dict[str, Chart]) -> list[Section]:
    if "map" not in charts:
        return []
    return [Section("map", "Map of messages", charts["map"].html(), (charts["map"],))]


def _lists(subject: ReportSubject, rule: ReviewRule) -> list[Section]:
    if subject.texts is None and subject.ids is None:
        return []
    found = []
    rows, total = doubtful_rows(subject, rule)
    if total:
        told = (
            f"{many(total, 'message')} with a doubt of {rule.threshold:.2g} or more ({rule.source})"
        )
        found.append(_list("doubtful", "Doubtful messages", told, subject, rows, total))
    rows, total = mistaken_rows(subject)
    if total:
        told = f"{many(total, 'message')} with a doubt below {SURE:g} and another label"
        found.append(_list("mistakes", "Sure, and not as labelled", told, subject, rows, total))
    return found


def _telling(subject: ReportSubject, rows: list[ClassRow]) -> list[Section]:
    """Show what unlabelled messages say, event by event; a labelled file has examples instead."""
    if subject.texts is None or subject.own or subject.measured is not None:
        return []
    told = element("p", "The surest messages with most of an event's keywords.", class_="soft")
    return [Section("telling", "Most telling messages", joined(told, telling_list(subject, rows)))]


def _list(
    name: str, title: str, told: str, subject: ReportSubject, rows: Any, total: int
) -> Section:
    shown = f"; the first {len(rows)}, each text once." if len(rows) < total else "."
    return Section(
        name,
        title,
        joined(element("p", told + shown, class_="soft"), message_list(subject, rows)),
    )


def _facts(subject: ReportSubject, rows: list[ClassRow], rule: ReviewRule) -> Html:
    fresh, measured = subject.fresh, subject.measured
    cells: list[tuple[str, str, str]] = []
    if measured is not None:
        scores = measured.scores
        cells += [
            ("Accuracy", f"{scores.accuracy:.1%}", measured.what),
            ("Macro-F1", f"{scores.macro_f1:.1%}", "every event counts the same"),
        ]
    else:
        taught = int((~fresh).sum())
        about = f"{taught:,} of them taught the model" if taught else date_span(subject)
        cells.append(("Messages", f"{len(subject):,}", about))
    seen = sum(each.messages > 0 for each in rows)
    cells.append(("Events", f"{seen:,}", f"of {subject.classes:,} that the model knows"))
    doubtful = int(rule.to_read(subject.doubt[fresh]).sum())
    if not subject.own or subject.trained.sum() < len(subject):
        cells.append(
            (
                "To read",
                f"{doubtful:,}",
                f"of {int(fresh.sum()):,}: doubt of {rule.threshold:.2g} or more",
            )
        )
    return fact_cards(cells)


def _explained(subject: ReportSubject, charts: dict[str, Chart]) -> list[str]:
    names = ["Event", "Doubt"]
    if subject.measured is not None:
        names += ["Recall", "Precision", "Accuracy and macro-F1", "Confusion matrix"]
        names += ["Reliability", "Risk and coverage"]
    names += ["Map"] * ("map" in charts)
    return names + ["Keywords"] * (subject.texts is not None)


def _footer(subject: ReportSubject) -> str:
    text = (
        "It holds texts of messages: share it as you may share these."
        if subject.texts is not None
        else "It holds no text of any message."
    )
    made = np.datetime64("now", "m")
    return f"Made by eventide {eventide.__version__} on {made} UTC, in one file. {text}"
