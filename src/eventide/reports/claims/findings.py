"""Test claims on messages, and print the findings as tables and a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import eventide
from eventide.data.splits import SPLITS
from eventide.experiments import Variant
from eventide.experiments.sources import code_name, commit
from eventide.reports.claims import CLAIMS
from eventide.reports.claims.claim import CONFIRMED, NOT_CONFIRMED, UNDECIDED, Claim, Finding
from eventide.reports.claims.evidence import gather
from eventide.reports.figures.style import counted
from eventide.reports.figures.trained_runs import Runs
from eventide.reports.tables.table import Cell, Column, Table
from eventide.reports.tables.table_formats import markdown
from eventide.scoring.significance import ENOUGH_RUNS
from eventide.storage import atomic_file


@dataclass(frozen=True)
class Report:
    """All findings, and the conditions that they were made under."""

    data: str
    messages: int
    seeds: tuple[int, ...]
    split: str
    encoder: str
    preset: str
    changes: dict[str, Any]
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]
    code: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return everything as JSON can hold it, verdicts included."""
        whole = asdict(self)
        for finding, written in zip(self.findings, whole["findings"], strict=True):
            written["verdict"] = finding.verdict
            for link, row in zip(finding.links, written["links"], strict=True):
                row |= {"verdict": link.verdict, "unit": link.unit.name, "text": link.text()}
        return whole


def examine(runs: Runs, names: Sequence[str] = ()) -> Report:
    """Test the claims called ``names``, all of `CLAIMS` by default, as ``runs`` says.

    Runs of `eventide compare` in the same folder are used and not done again.
    """
    claims = chosen_claims(names)
    runs.messages()  # an impossible split fails before anything is trained
    evidence = gather(runs, claims.values())
    notes = list(evidence.results.notes if evidence.results else runs.data.notes)
    notes += [f"missing, {name}: {why}" for name, why in evidence.missing.items()]
    if len(runs.seeds) < ENOUGH_RUNS:
        seeds = counted(len(runs.seeds), "seed", "seeds")
        notes.append(f"too few runs: {seeds} where the paper has {ENOUGH_RUNS}")
    return Report(
        data=runs.name,
        messages=len(runs.data.messages),
        seeds=tuple(runs.seeds),
        split=runs.split,
        encoder=runs.encoder,
        preset=runs.preset,
        changes=dict(runs.changes),
        findings=tuple(
            Finding(name, claim.says, claim.rule, tuple(claim.assess(evidence)))
            for name, claim in claims.items()
        ),
        notes=tuple(notes),
        code=evidence.results.made_by if evidence.results else code_name([commit()]),
    )


def chosen_claims(names: Sequence[str] = ()) -> dict[str, Claim]:
    """Load the claims called ``names``, or all that work."""
    return {name: CLAIMS.load(name) for name in names} if names else CLAIMS.working()


def needed(names: Sequence[str] = ()) -> tuple[Variant, ...]:
    """Return the variants that these claims compare, each once, if this version has them."""
    claims = chosen_claims(names)
    found = {each.name: each for claim in claims.values() for each in claim.variants}
    return tuple(each for each in found.values() if not each.missing())


CLAIM, VERDICT, SAYS, COMPARED, DIFFERENCE, MEASURED = (
    Column(title.replace(" ", "_"), title, words=True)
    for title in ("claim", "verdict", "the paper says", "compared", "difference", "measured")
)
CAVEATS = (
    "Intervals cover 95 % of bootstrap draws. They show the chance in test messages (or in "
    "classes, or in batches, where a claim says so), not that in splits and initialisation; a "
    "message that several seeds test counts once for each, and nothing is corrected for the number "
    "of comparisons. For times, the range over seeds is given instead. A claim with several links "
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
        [each.name if index == 0 else "", link.compared, link.text(), link.verdict, link.measured]
        for each in report.findings
        for index, link in enumerate(each.links)
    ]
    columns = (CLAIM, COMPARED, DIFFERENCE, VERDICT, MEASURED)
    table = Table.build("links", "What was measured", columns, rows)
    return replace(table, data=report.data, code=report.code)


def counts(report: Report) -> str:
    """Say how many claims have each verdict."""
    found = Counter(each.verdict for each in report.findings)
    return ", ".join(f"{found[each]} {each}" for each in (CONFIRMED, NOT_CONFIRMED, UNDECIDED))


def page(report: Report) -> str:
    """Put conditions, verdicts, and each claim with its rule and its values on one page."""
    changed = ", ".join(f"`{name}={value}`" for name, value in report.changes.items())
    conditions = [
        f"dataset `{report.data}`: {report.messages:,} messages",
        f"split: {report.split} ({SPLITS[report.split].description})",
        f"encoder `{report.encoder}`, preset `{report.preset}`" + (changed and f", {changed}"),
        f"seeds: {', '.join(map(str, report.seeds))}",
        f"made with eventide {eventide.__version__} by `eventide claims`",
        *([f"code: {report.code}"] if report.code else []),
        *report.notes,
    ]
    parts = [
        f"# The paper's claims on {report.data}",
        "\n".join(f"- {each}" for each in conditions),
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
    with atomic_file(path, "the page") as temporary:
        temporary.write_text(page(report), encoding="utf-8")
