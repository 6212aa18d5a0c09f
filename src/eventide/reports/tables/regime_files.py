"""A comparison over regimes on disk: a page, its tables, the heat map; and as data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from eventide.experiments.jobs import RUNS
from eventide.experiments.regime_results import RegimeResults
from eventide.experiments.run_log import PACKED
from eventide.reports.tables.mean_ranks import mean_ranks
from eventide.reports.tables.regime_significance import (
    Differences,
    difference_table,
    excludes_zero,
    regime_differences,
    regime_reference,
    significance_by_regime,
    winners,
)
from eventide.reports.tables.regime_tables import ACCURACY, MEASURES, measured_in, regime_tables
from eventide.reports.tables.regime_titles import (
    dataset,
    described_messages,
    known_regime,
    seeds,
    short_title,
)
from eventide.reports.tables.significance_table import p_of_runs
from eventide.reports.tables.table import Table
from eventide.reports.tables.table_files import ENDINGS, check_names, failures, write_page
from eventide.reports.tables.table_formats import flat, left_out, markdown, without_deviations

PAGE = "regimes.md"
HEADING = "# Regimes on "
"""How a page of ours begins."""
PICTURES = ("regimes.png", "regimes.svg")
NAMES = (*(each.name for each in MEASURES), "regimes-differences", "regimes-significance")


@dataclass(frozen=True)
class RegimeReport:
    """What is said of results: differences from the ``reference`` are computed once.

    ``notes`` are the caller's own, ``command`` is what he typed.
    """

    results: RegimeResults
    reference: str
    notes: tuple[str, ...] = ()
    command: str = ""

    @classmethod
    def of(
        cls,
        results: RegimeResults,
        reference: str | None = None,
        notes: Sequence[str] = (),
        command: str = "",
    ) -> RegimeReport:
        """Choose the reference as `chosen_reference` does."""
        return cls(results, regime_reference(results, reference), tuple(notes), command)

    @cached_property
    def differences(self) -> Differences:
        """How far every method is from the reference in every regime."""
        return regime_differences(self.results, self.reference)

    @cached_property
    def measures(self) -> list[Table]:
        """One table per measure."""
        return regime_tables(self.results)

    @property
    def winners(self) -> list[str]:
        """A sentence per regime."""
        return winners(self.results, self.reference, self.differences)

    def tables(self) -> list[Table]:
        """Return all tables, accuracy and its differences first; the long one last."""
        found = list(self.measures)
        if self._compared:
            compact = difference_table(self.results, self.reference, self.differences)
            long = significance_by_regime(self.results, self.reference, self.differences)
            found = [*found[:2], compact, *found[2:], long]
        return found

    def shown(self, width: int) -> list[Table]:
        """Return the tables for a terminal: without deviations or intervals where these don't fit.

        The long table of p-values is for files. A note stands below its first table alone.
        """
        found = [_narrowed(table, width) for table in self.measures]
        if self._compared:
            wide, narrow = (
                difference_table(
                    self.results, self.reference, self.differences, intervals=intervals
                )
                for intervals in (True, False)
            )
            fitted = _told_short(narrow) if left_out(wide, width) else wide
            found = [*found[:2], fitted, *found[2:]]
        return said_once(found)

    @property
    def _compared(self) -> bool:
        return any(self.differences.values())


def _narrowed(table: Table, width: int) -> Table:
    return _told_short(without_deviations(table)) if left_out(table, width) else table


def _told_short(table: Table) -> Table:
    told = f"No room here for deviations and intervals: see {PAGE}"
    return replace(table, notes=(*table.notes, told))


def said_once(tables: Sequence[Table]) -> list[Table]:
    """Keep a note with the first table that has it, and the code with the first of all."""
    said: set[str] = set()
    found: list[Table] = []
    for table in tables:
        notes = tuple(note for note in table.notes if note not in said)
        found.append(replace(table, notes=notes, code="" if found else table.code))
        said.update(notes)
    return found


def check_regime_files(folder: Path, inputs: Sequence[Path | str] = ()) -> bool:
    """Refuse a folder in which a file would replace what is not ours; say if one replaces ours.

    A folder that holds runs or a page of regimes is one of ours.
    """
    names = [PAGE, *PICTURES, *(f"{name}{ending}" for name in NAMES for ending in ENDINGS)]
    runs = (folder / name for name in (RUNS, RUNS + PACKED))
    ours = any(path.exists() for path in runs) or _is_page(folder / PAGE)
    return check_names(folder, names, inputs, ours=ours)


def _is_page(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(HEADING)) == HEADING.encode()
    except OSError:
        return False


def write_regime_tables(
    results: RegimeResults | RegimeReport, folder: Path, reference: str | None = None
) -> list[Path]:
    """Write page, tables and heat map, each whole or not at all; return the paths, the page first.

    Give a `RegimeReport` to have its notes and command on the page.
    """
    from eventide.reports.figures.regime_heatmap import heat_map
    from eventide.reports.figures.style import save

    report = RegimeReport.of(results, reference) if isinstance(results, RegimeResults) else results
    drawn = heat_map(report.results)
    paths = write_page(folder / PAGE, regime_page(report), report.tables())
    return [*paths, *(save(drawn, folder / name) for name in PICTURES)]


def regime_page(report: RegimeReport) -> str:
    """Put the winners, the conditions and all tables on one page of Markdown."""
    results = report.results
    conditions = [
        f"dataset `{dataset(results)}`, {described_messages(results)}",
        f"{seeds(results)}; encoder, preset and messages by regime below",
        *([f"command: `{report.command}`"] if report.command else []),
        f"code: {results.made_by or 'unknown'}",
        *_versions(results),
        *map(flat, dict.fromkeys([*report.notes, *results.notes])),
    ]
    parts = [
        f"{HEADING}{flat(dataset(results))}",
        f"## Who wins where\n\n{_listed(list(map(flat, report.winners)))}\n\n"
        "![Accuracy of methods in regimes](regimes.png)",
        f"## Conditions\n\n{_listed(conditions)}",
        f"## Regimes\n\n{_listed(_regimes(results))}",
        "## Tables",
        *(markdown(table).rstrip() for table in said_once(report.tables())),
    ]
    if results.failures:
        parts.append(f"## Failed runs\n\n{_listed(list(map(flat, failures(results))))}")
    return "\n\n".join(parts) + "\n"


def _listed(lines: Sequence[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _versions(results: RegimeResults) -> list[str]:
    found = {
        ", ".join(f"{name} {version}" for name, version in run.versions.items())
        for part in results.parts.values()
        for runs in part.runs.values()
        for run in runs
    }
    return [f"made with {each}" for each in sorted(found)]


def _regimes(results: RegimeResults) -> list[str]:
    """Say of each regime what it is, what it is called above a column, and how large it is."""
    lines = []
    for name, part in results.parts.items():
        short, plan = short_title(name), part.plan
        outcomes = [each for own in part.variants for each in part.outcomes(own.name)]
        sizes = outcomes[0].messages if outcomes else None
        counted = (
            f"{sizes.train:,} training, {sizes.validation:,} validation, {sizes.test:,} test "
            "messages with the first seed"
            if sizes
            else "no run finished"
        )
        called = "" if short == name else f" (column {short})"
        known = known_regime(name)
        told = f"{known.description}; " if known else ""
        lines.append(
            f"**{name}**{called}: {told}{counted}; encoder `{plan.encoder}`, preset `{plan.preset}`"
        )
    return lines


def regimes_as_data(report: RegimeReport) -> dict[str, Any]:
    """Return everything that ``json`` can write: conditions, means, differences, winners."""
    results = report.results
    figures = measured_in(results, ACCURACY)
    values = {
        name: [None if each is None else each.mean for each in row] for name, row in figures.items()
    }
    return {
        "dataset": dataset(results),
        "lock": results.lock,
        "tuning": results.tuning,
        "reference": report.reference,
        "mean_ranks": mean_ranks(values),
        "winners": report.winners,
        "regimes": {name: _part(report, name) for name in results.parts},
        "notes": list(dict.fromkeys([*report.notes, *results.notes])),
        "runs": str(results.path),
        "code": results.made_by,
        "command": report.command,
    }


def _part(report: RegimeReport, regime: str) -> dict[str, Any]:
    part = report.results.parts[regime]
    variants = []
    for each in part.variants:
        spreads = {
            measure.name.removeprefix("regimes-").replace("-", "_"): part.spread(
                each.name, measure.read
            )
            for measure in MEASURES
        }
        variants.append(
            {
                "name": each.name,
                "note": part.note(each.name),
                "runs": len(part.outcomes(each.name)),
                **{name: None if one is None else asdict(one) for name, one in spreads.items()},
            }
        )
    differences = [
        {
            **asdict(found),
            "t_test": {**asdict(found.t_test), "p_value": p_of_runs(found.t_test)},
            "excludes_zero": excludes_zero(found),
        }
        for found in report.differences[regime].values()
    ]
    return {
        **asdict(part.plan),
        "seeds": list(part.seeds),
        "variants": variants,
        "differences": differences,
        "failures": [
            {"variant": run.variant, "seed": run.seed, "error": run.error} for run in part.failures
        ],
    }
