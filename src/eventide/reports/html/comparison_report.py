"""The page of a comparison: its charts, tables and notes, and what they mean."""

from __future__ import annotations

import eventide
from eventide.reports.html.chart import listed, plain_table, scrolling
from eventide.reports.html.compared import Compared
from eventide.reports.html.comparison_charts import (
    interval_panels,
    measure_heat,
    recall_bars,
    regime_heat,
    seconds_chart,
)
from eventide.reports.html.html_page import HtmlPage, Section
from eventide.reports.html.markup import Html, element, fact_cards, joined
from eventide.reports.html.report_words import many
from eventide.reports.tables.regime_significance import excludes_zero
from eventide.reports.tables.table import Table

MEANINGS = (
    "Accuracy (ACC) is the share of test messages that get their event; macro-F1 counts every "
    "event the same, however small.",
    "A cell's colour is the method's rank in its column, the darkest the best; two cells of "
    "different columns cannot be compared by colour.",
    "An interval is the difference in accuracy from the reference method with 95 % confidence, by "
    "a paired bootstrap over test messages. If it touches the dashed line, chance explains the "
    "difference. Nothing is corrected for the number of comparisons.",
    "Seconds are wall clock of the machine that ran them, with other runs beside.",
)


def comparison_report(compared: Compared) -> HtmlPage:
    """Make the page."""
    regimes = len(compared.parts.parts) > 1
    heat = regime_heat(compared) if regimes else measure_heat(compared)
    panels = interval_panels(compared)
    seconds = seconds_chart(compared)
    bars = recall_bars(compared)
    sections = [
        Section("accuracy", "Who does well where" if regimes else "Who does well",
                heat.html(), (heat,)),
        *([Section("intervals", f"Better or worse than {compared.reference}",
                   element("div", (element("div", element("h3", title), each.html())
                                   for title, each in panels),
                           class_="pair" if len(panels) > 1 else None),
                   tuple(each for _, each in panels))] if panels else []),
        *([Section("events", "Event by event", bars.html(), (bars,))] if bars else []),
        *([Section("seconds", "Seconds", seconds.html(), (seconds,))] if seconds else []),
        Section("tables", "Tables", joined(_table(each) for each in compared.tables)),
        Section("meaning", "What the numbers mean", listed(MEANINGS, class_="notes")),
        Section("notes", "Notes", _notes(compared)),
    ]  # fmt: skip
    plan = compared.first.plan
    return HtmlPage(
        title=f"Methods compared on {plan.dataset}",
        kicker="Eventide comparison",
        lead=joined(element("p", " ".join(_summary(compared))), _facts(compared)),
        sections=sections,
        footer=f"Made by eventide {eventide.__version__}, in one file. Runs: "
        f"{compared.parts.made_by}. It holds no text of any message.",
    )


def _summary(compared: Compared) -> list[str]:
    names, failed = compared.names, len(compared.parts.failures)
    if not names:
        return ["No run has finished: there is nothing to compare yet."]
    first = names[0]
    told = [
        f"{many(len(names), 'method')} on {compared.first.plan.dataset}. On average "
        f"{first} is the most accurate" + (f", before {names[1]}." if len(names) > 1 else ".")
    ]
    every = [each for own in compared.differences.values() for each in own.values()]
    clear, total = [each for each in every if excludes_zero(each)], len(every)
    if total:
        told.append(
            f"Of {total:,} comparisons with {compared.reference}, {len(clear):,} are more than "
            "chance explains (95 % intervals, not corrected for their number)."
        )
    if failed:
        told.append(f"{many(failed, 'run')} failed.")
    return told


def _facts(compared: Compared) -> Html:
    runs = sum(len(part.outcomes(name)) for part in compared.parts.parts.values()
               for name in compared.names)  # fmt: skip
    outcomes = [each for name in compared.names for each in compared.first.outcomes(name)]
    cells = [
        ("Methods", f"{len(compared.names):,}", f"reference: {compared.reference}"),
        ("Runs", f"{runs:,}", f"{len(compared.parts.failures):,} failed"),
        (
            "Test messages",
            f"{outcomes[0].messages.test:,}" if outcomes else "–",
            "of the first run",
        ),
    ]
    if len(compared.parts.parts) > 1:
        cells.insert(1, ("Regimes", f"{len(compared.parts.parts):,}", "ways to test"))
    return fact_cards(cells)


def _table(table: Table) -> Html:
    rows = [
        [column.text(cell) for column, cell in zip(table.columns, row, strict=True)]
        for row in table.rows
    ]
    return joined(
        element("h3", table.title),
        scrolling(plain_table([each.title for each in table.columns], rows), table.title),
    )


def _notes(compared: Compared) -> Html:
    notes = dict.fromkeys(
        [
            *compared.winners,
            *(note for table in compared.tables for note in table.notes),
            *compared.notes,
            *compared.parts.notes,
            *([f"Made by: {compared.command}"] if compared.command else []),
        ]
    )
    return listed(list(notes), class_="notes")
