"""The tables of a comparison on disk (Markdown, LaTeX, CSV), and as data for a program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from eventide.data.splits import SPLITS
from eventide.errors import OutputError
from eventide.experiments.jobs import RUNS
from eventide.experiments.regime_results import RegimeResults
from eventide.experiments.results import Difference, Results, Spread
from eventide.outputs import check_file
from eventide.reports import printed_results as paper
from eventide.reports.tables.collection import TABLES
from eventide.reports.tables.comparison_tables import MEASURES, tested
from eventide.reports.tables.significance_table import chosen_reference, p_of_runs
from eventide.reports.tables.table import Table
from eventide.reports.tables.table_formats import comma_separated, latex, markdown
from eventide.storage import atomic_file


def as_data(
    results: Results, notes: Sequence[str] = (), reference: str | None = None
) -> dict[str, Any]:
    """Return everything that ``json`` can write: conditions, means, differences, failures."""
    reference = chosen_reference([each.name for each in results.variants], reference)
    differences = [
        results.difference(each.name, reference)
        for each in results.variants
        if each.name != reference
    ]
    return {
        **asdict(results.plan),
        "seeds": list(results.seeds),
        "variants": [_variant(results, each.name) for each in results.variants],
        "reference": reference,
        "differences": [_difference(each) for each in differences if each is not None],
        "failures": [
            {"variant": run.variant, "seed": run.seed, "error": run.error}
            for run in results.failures
        ],
        "notes": [*notes, *results.notes],
        "runs": str(results.path),
        "code": results.made_by,
    }


def _difference(found: Difference) -> dict[str, Any]:
    written = asdict(found)
    written["t_test"]["p_value"] = p_of_runs(found.t_test)
    return written


def _variant(results: Results, name: str) -> dict[str, Any]:
    dataset = results.plan.dataset
    spreads: dict[str, Spread | None] = {
        measure: results.spread(name, tested(measure)) for measure in MEASURES
    }
    spreads["validation_accuracy"] = results.spread(name, lambda run: run.validation.accuracy)
    spreads["uncertainty_right"] = results.spread(name, tested("uncertainty_right"))
    spreads["uncertainty_wrong"] = results.spread(name, tested("uncertainty_wrong"))
    spreads["seconds_per_epoch"] = results.spread(name, lambda run: run.seconds.epoch)
    spreads["seconds_to_fit"] = results.spread(name, lambda run: run.seconds.fit)
    printed = {
        measure: found
        for measure, short in (("accuracy", "acc"), ("macro_f1", "f1"))
        if (found := paper.figure(name, dataset, short)) is not None
    }
    return {
        "name": name,
        "note": results.note(name),
        "runs": len(results.outcomes(name)),
        **{key: None if spread is None else asdict(spread) for key, spread in spreads.items()},
        "paper": {
            measure: {"mean": found.mean, "deviation": found.deviation}
            for measure, found in printed.items()
        },
    }


PAGE = "tables.md"
ENDINGS = (".md", ".tex", ".csv")


def check_tables(folder: Path, inputs: Sequence[Path | str] = ()) -> bool:
    """Refuse a folder in which a table would replace what is not ours; say if one replaces ours.

    A folder that holds runs is one of ours, and so are the tables in it.
    """
    names = [PAGE, *(f"{name}{ending}" for name in TABLES for ending in ENDINGS)]
    return check_names(folder, names, inputs, ours=(folder / RUNS).exists())


def check_names(
    folder: Path, names: Sequence[str], inputs: Sequence[Path | str], *, ours: bool
) -> bool:
    """Refuse to write files of these names unless what they replace is ``ours``; say if any is."""
    taken = [name for name in names if (folder / name).exists()]
    if taken and not ours:
        raise OutputError(
            f"{taken[0]} is there already, and not of a comparison",
            where=str(folder),
            next_step="choose an empty or new folder with --out",
        )
    for name in names:
        check_file(folder / name, overwrite=True, inputs=inputs)
    return bool(taken)


def write_tables(results: Results, tables: Sequence[Table], folder: Path) -> list[Path]:
    """Write everything, each file whole or not at all, and return the paths, the page first."""
    return write_page(folder / PAGE, page(results, tables), tables)


def write_page(path: Path, content: str, tables: Sequence[Table]) -> list[Path]:
    """Write a page, and beside it each table on its own in every format."""
    contents = {path.name: content}
    for table in tables:
        contents[f"{table.name}.md"] = markdown(table)
        contents[f"{table.name}.tex"] = latex(table)
        contents[f"{table.name}.csv"] = comma_separated(table)
    for name, text in contents.items():
        with atomic_file(path.with_name(name), "the tables") as temporary:
            temporary.write_text(text, encoding="utf-8")
    return [path.with_name(name) for name in contents]


def page(results: Results, tables: Sequence[Table]) -> str:
    """Put the conditions and all tables on one page of Markdown."""
    plan = results.plan
    runs = [run for each in results.runs.values() for run in each]
    sizes = runs[0].outcome.messages if runs and runs[0].outcome else None
    versions = sorted(
        {", ".join(f"{name} {version}" for name, version in run.versions.items()) for run in runs}
    )
    changed = ", ".join(f"`{name}={value}`" for name, value in plan.changes.items())
    conditions = [
        f"dataset `{plan.dataset}`"
        + (
            f": {sizes.train:,} training, {sizes.validation:,} validation, {sizes.test:,} test "
            "messages"
            if sizes
            else ""
        ),
        f"split: {plan.split} ({SPLITS[plan.split].description})",
        f"protocol: {plan.protocol}",
        f"encoder `{plan.encoder}`, preset `{plan.preset}`" + (f", {changed}" if changed else ""),
        f"seeds: {', '.join(map(str, results.seeds))}",
        *(f"made with {each}" for each in versions),
        *([f"code: {results.made_by}"] if results.made_by else []),
        *results.notes,
    ]
    parts = [f"# Comparison on {plan.dataset}", "\n".join(f"- {each}" for each in conditions)]
    parts += [markdown(table).rstrip() for table in tables]
    if results.failures:
        lines = [f"- {line}" for line in failures(results)]
        parts.append("### Failed runs\n\n" + "\n".join(lines))
    return "\n\n".join(parts) + "\n"


def failures(results: Results | RegimeResults) -> list[str]:
    """Say why runs failed, each reason once with the runs it stopped."""
    reasons: dict[str, list[str]] = {}
    for run in results.failures:
        why = " ".join((run.error or "no reason given").split())
        where = f"{run.regime}, " if run.regime else ""
        reasons.setdefault(why, []).append(f"{run.variant} ({where}seed {run.seed})")
    return [f"{', '.join(runs)}: {why}" for why, runs in reasons.items()]
