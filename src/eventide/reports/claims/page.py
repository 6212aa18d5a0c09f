"""Findings to read: tables for the terminal, and a page of Markdown."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import eventide
from eventide.comparison.splitting import SPLITS
from eventide.outputs import writing
from eventide.reports.claims.claim import Finding
from eventide.reports.claims.report import Report
from eventide.reports.claims.verdict import CONFIRMED, NOT_CONFIRMED, UNDECIDED
from eventide.reports.tables.drawing import markdown
from eventide.reports.tables.table import Cell, Column, Table
from eventide.storage import atomic_file

CLAIM, VERDICT, SAYS, COMPARED, DIFFERENCE, MEASURED = (
    Column(title.replace(" ", "_"), title, words=True)
    for title in ("claim", "verdict", "the paper says", "compared", "difference", "measured")
)
CAVEATS = (
    "Intervals cover 95 % of bootstrap draws. They tell the luck of test messages (or of classes, "
    "or of batches, where a claim says so), not that of splits and first weights; a message that "
    "several seeds test counts once for each, and nothing is corrected for the number of "
    "comparisons. For times, the range over seeds is given instead. A claim with several links "
    "is confirmed if all of them are, not confirmed if one is refuted, and else undecided."
)


def summary(report: Report) -> Table:
    """One row per claim: its verdict, and the paper's sentence."""
    rows = [[each.name, each.verdict, each.says] for each in report.findings]
    title = f"The paper's claims on {report.data}: {counts(report)}"
    table = Table.build("claims", title, (CLAIM, VERDICT, SAYS), rows)
    return replace(table, data=report.data, code=report.code)


def details(report: Report) -> Table:
    """One row per link: what was compared, by how much it differs, and what that says."""
    rows: list[list[Cell]] = [
        [each.name if place == 0 else "", link.compared, link.text(), link.verdict, link.measured]
        for each in report.findings
        for place, link in enumerate(each.links)
    ]
    columns = (CLAIM, COMPARED, DIFFERENCE, VERDICT, MEASURED)
    table = Table.build("links", "What was measured", columns, rows)
    return replace(table, data=report.data, code=report.code)


def counts(report: Report) -> str:
    """Say how many claims have each verdict."""
    found = Counter(each.verdict for each in report.findings)
    return ", ".join(f"{found[each]} {each}" for each in (CONFIRMED, NOT_CONFIRMED, UNDECIDED))


def page(report: Report) -> str:
    """Put conditions, verdicts, and each claim with its rule and its numbers on one page."""
    changed = ", ".join(f"`{name}={value}`" for name, value in report.changes.items())
    facts = [
        f"dataset `{report.data}`: {report.messages:,} messages",
        f"split: {report.split} ({SPLITS[report.split]})",
        f"encoder `{report.encoder}`, preset `{report.preset}`" + (changed and f", {changed}"),
        f"seeds: {', '.join(map(str, report.seeds))}",
        f"made with eventide {eventide.__version__} by `eventide claims`",
        *([f"code: {report.code}"] if report.code else []),
        *report.notes,
    ]
    parts = [
        f"# The paper's claims on {report.data}",
        "\n".join(f"- {fact}" for fact in facts),
        f"## Verdicts: {counts(report)}",
        _table(summary(report)),
        CAVEATS,
        "## Claim by claim",
        *(_section(each) for each in report.findings),
    ]
    return "\n\n".join(parts) + "\n"


def _section(finding: Finding) -> str:
    rows = [[e.compared, e.text(), e.verdict, e.measured] for e in finding.links]
    table = Table.build("", "", (COMPARED, DIFFERENCE, VERDICT, MEASURED), rows)
    head = f"### {finding.name}: {finding.verdict}"
    return "\n\n".join([head, finding.says, f"Rule: {finding.rule}", _table(table)])


def _table(table: Table) -> str:
    """Draw a table without its title, which the page has given already."""
    return markdown(table).split("\n\n", 1)[1].strip()


def write_page(report: Report, path: Path) -> None:
    """Write the page, whole or not at all."""
    with writing(path, "the page"), atomic_file(path) as temporary:
        temporary.write_text(page(report), encoding="utf-8")
