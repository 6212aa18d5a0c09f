"""Print the findings: a table of claims and conditions, what was measured, and one page of all."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import eventide
from eventide.data.splits import SPLITS
from eventide.experiments.regimes import regime
from eventide.reports.claims.claim import CONFIRMED, NOT_CONFIRMED, UNDECIDED
from eventide.reports.claims.findings import Examined, Report
from eventide.reports.claims.margin_effect import effect_table
from eventide.reports.tables.table import Cell, Column, Table
from eventide.reports.tables.table_formats import markdown
from eventide.storage import atomic_file

CLAIM, VERDICT, SAYS, COMPARED, DIFFERENCE, MEASURED, RULE = (
    Column(title.replace(" ", "_"), title, words=True)
    for title in (
        "claim", "verdict", "the paper says", "compared", "difference", "measured", "rule",
    )
)  # fmt: skip
CONDITION, PRESET, REGIME, PROTOCOL, ENCODER, VERDICTS, CODE = (
    Column(title, title, words=True)
    for title in ("condition", "preset", "regime", "protocol", "encoder", "verdicts", "code")
)
CAVEATS = (
    "Intervals cover 95 % of bootstrap draws. They show the chance in test messages (or in "
    "classes, or in batches, where a claim says so), not that in splits and initialisation; a "
    "message that several seeds test counts once for each, and nothing is corrected for the number "
    "of comparisons. For times, the range over seeds is given instead. A claim with several links "
    "is confirmed if all of them are, not confirmed if one is refuted, and else undecided."
)


def summary(report: Report) -> Table:
    """One row per claim: its verdict under every condition, and the paper's sentence."""
    verdicts = [
        Column(f"condition_{place}", each.name, words=True)
        for place, each in enumerate(report.conditions, start=1)
    ]
    rows: list[list[Cell]] = [
        [same[0].name, *(each.verdict for each in same), same[0].says]
        for same in zip(*(each.findings for each in report.conditions), strict=True)
    ]
    title = f"The paper's claims on {report.data}"
    notes = [f"{each.name}: {counts(each)}" for each in report.conditions]
    table = Table.build("claims", title, (CLAIM, *verdicts, SAYS), rows, notes)
    return replace(table, data=report.data, code=report.code)


def conditions(report: Report) -> Table:
    """One row per condition: what is the same for all of its runs, and the code that made them."""
    rows: list[list[Cell]] = [
        [
            each.name,
            each.preset,
            _regime(each),
            each.protocol,
            each.encoder,
            counts(each),
            each.code,
        ]
        for each in report.conditions
    ]
    columns = (CONDITION, PRESET, REGIME, PROTOCOL, ENCODER, VERDICTS, CODE)
    return Table.build("conditions", "Conditions", columns, rows)


def _regime(each: Examined) -> str:
    if each.regime:
        return f"{each.regime}: {regime(each.regime).description}"
    return f"{each.split} split: {SPLITS[each.split].description}"


def details(examined: Examined) -> Table:
    """One row per link: what was compared, by how much it differs, and what that says."""
    rows: list[list[Cell]] = [
        [each.name if index == 0 else "", link.compared, link.text(), link.verdict, link.measured]
        for each in examined.findings
        for index, link in enumerate(each.links)
    ]
    columns = (CLAIM, COMPARED, DIFFERENCE, VERDICT, MEASURED)
    table = Table.build("links", f"What was measured: {examined.name}", columns, rows)
    return replace(table, code=examined.code)


def margins(report: Report) -> Table:
    """What a margin can do at all, by the equation, for as many classes as the messages have."""
    return effect_table(report.classes, [each.loss for each in report.conditions])


def rules(report: Report) -> Table:
    """One row per claim: when it is confirmed and when it is not."""
    rows: list[list[Cell]] = [[each.name, each.rule] for each in report.conditions[0].findings]
    return Table.build("rules", "Rules", (CLAIM, RULE), rows)


def counts(examined: Examined) -> str:
    """Say how many claims have each verdict."""
    found = Counter(each.verdict for each in examined.findings)
    return ", ".join(f"{found[each]} {each}" for each in (CONFIRMED, NOT_CONFIRMED, UNDECIDED))


def page(report: Report) -> str:
    """Put conditions, verdicts, rules and values on one page."""
    changed = ", ".join(f"`{name}={value}`" for name, value in report.changes.items())
    shared = [
        f"dataset `{report.data}`: {report.messages:,} messages, {report.classes} events",
        f"seeds: {', '.join(map(str, report.seeds))}",
        *([f"changed for all: {changed}"] if changed else []),
        f"made with eventide {eventide.__version__} by `eventide claims`",
        *([f"code: {report.code}"] if report.code else []),
    ]
    effects = margins(report)
    parts = [
        f"# The paper's claims on {report.data}",
        _bullets(shared),
        "## Conditions",
        _table(conditions(report)),
        "## Verdicts",
        _table(replace(summary(report), notes=(), code="")),
        CAVEATS,
        "## What a margin can do",
        f"{effects.title}. {' '.join(effects.notes)}.",
        _table(replace(effects, notes=())),
        "## Rules",
        _table(rules(report)),
    ]
    for each in report.conditions:
        parts += [
            f"## {each.name}: {counts(each)}",
            *([_bullets(each.notes)] if each.notes else []),
            _table(replace(details(each), code="")),
        ]
    return "\n\n".join(parts) + "\n"


def _bullets(lines: list[str] | tuple[str, ...]) -> str:
    return "\n".join(f"- {each}" for each in lines)


def _table(table: Table) -> str:
    """Draw a table without its title, which the page has given already."""
    return markdown(table).split("\n\n", 1)[1].strip()


def write_page(report: Report, path: Path) -> None:
    """Write the page, whole or not at all."""
    with atomic_file(path, "the page") as temporary:
        temporary.write_text(page(report), encoding="utf-8")
