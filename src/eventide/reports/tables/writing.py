"""The tables of a comparison on disk: a page to read, and each table as Markdown, LaTeX and CSV."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from eventide.comparison.checking import RUNS
from eventide.comparison.results import Results
from eventide.comparison.splitting import SPLITS
from eventide.errors import OutputError
from eventide.outputs import check_file, writing
from eventide.reports.tables.collection import TABLES
from eventide.reports.tables.drawing import comma_separated, latex, markdown
from eventide.reports.tables.table import Table
from eventide.storage import atomic_file

PAGE = "tables.md"
ENDINGS = (".md", ".tex", ".csv")


def check_tables(folder: Path, inputs: Sequence[Path | str] = ()) -> bool:
    """Refuse a folder in which a table would replace what is not ours; say if one replaces ours.

    A folder that holds runs is one of ours, and so are the tables in it.
    """
    names = [PAGE, *(f"{name}{ending}" for name in TABLES for ending in ENDINGS)]
    taken = [name for name in names if (folder / name).exists()]
    if taken and not (folder / RUNS).exists():
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
    contents = {PAGE: page(results, tables)}
    for table in tables:
        contents[f"{table.name}.md"] = markdown(table)
        contents[f"{table.name}.tex"] = latex(table)
        contents[f"{table.name}.csv"] = comma_separated(table)
    with writing(folder, "the tables"):
        for name, content in contents.items():
            with atomic_file(folder / name) as temporary:
                temporary.write_text(content, encoding="utf-8")
    return [folder / name for name in contents]


def page(results: Results, tables: Sequence[Table]) -> str:
    """Put the conditions and all tables on one page of Markdown."""
    plan = results.plan
    runs = [run for each in results.runs.values() for run in each]
    sizes = runs[0].outcome.messages if runs and runs[0].outcome else None
    versions = sorted(
        {", ".join(f"{name} {number}" for name, number in run.versions.items()) for run in runs}
    )
    changed = ", ".join(f"`{name}={value}`" for name, value in plan.changes.items())
    facts = [
        f"dataset `{plan.dataset}`"
        + (
            f": {sizes.train:,} training, {sizes.validation:,} validation, {sizes.test:,} test "
            "messages"
            if sizes
            else ""
        ),
        f"split: {plan.split} ({SPLITS[plan.split]})",
        f"protocol: {plan.protocol}",
        f"encoder `{plan.encoder}`, preset `{plan.preset}`" + (f", {changed}" if changed else ""),
        f"seeds: {', '.join(map(str, results.seeds))}",
        *(f"made with {each}" for each in versions),
        *([f"code: {results.made_by}"] if results.made_by else []),
        *results.notes,
    ]
    parts = [f"# Comparison on {plan.dataset}", "\n".join(f"- {fact}" for fact in facts)]
    parts += [markdown(table).rstrip() for table in tables]
    if results.failures:
        lines = [f"- {line}" for line in failures(results)]
        parts.append("### Failed runs\n\n" + "\n".join(lines))
    return "\n\n".join(parts) + "\n"


def failures(results: Results) -> list[str]:
    """Say why runs failed, each reason once with the runs it stopped."""
    reasons: dict[str, list[str]] = {}
    for run in results.failures:
        why = " ".join((run.error or "no reason given").split())
        reasons.setdefault(why, []).append(f"{run.contestant} (seed {run.seed})")
    return [f"{', '.join(runs)}: {why}" for why, runs in reasons.items()]
