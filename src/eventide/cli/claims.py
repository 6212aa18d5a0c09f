"""``eventide claims``: the paper's qualitative claims, confirmed or not on given messages."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from eventide.cli.compare import read_seeds
from eventide.cli.console import IN_A_PIPE, print_json, say
from eventide.cli.options import (
    AsJson,
    ChangeForAll,
    Entities,
    Source,
    SplitName,
    Workers,
    changed_settings,
)
from eventide.cli.reading import Reading, reads_messages
from eventide.cli.watching import run_lines

if TYPE_CHECKING:
    from eventide.reports.claims.findings import Report


@reads_messages
def claims(
    source: Source,
    reading: Reading,
    only: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,...",
            help="Test these alone: errors, order, margins, margins-printed, calibration, balance, "
            "weakest, hybrid-psc, gains, similarity, drift, lambda3, lambda1, cost.",
        ),
    ] = None,
    seeds: Annotated[
        str, typer.Option(help="How many (3 is 0 to 2), a range (100-104) or a list (3,5).")
    ] = "3",
    split: SplitName = "random",
    regimes: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,...",
            help="Instead of a split, regimes on locked messages, as for eventide compare; "
            "paper-random is the paper's random split among them.",
        ),
    ] = None,
    presets: Annotated[
        str,
        typer.Option(
            "--presets",
            "--preset",
            metavar="NAME,...",
            help="default, paper (as printed).",
        ),
    ] = "default",
    encoder: Annotated[str | None, typer.Option(help="As for eventide compare.")] = None,
    entities: Entities = "rules",
    change: ChangeForAll = None,
    kept: Annotated[
        Path | None,
        typer.Option("--runs", help="Folder of runs, shared with compare's --out."),
    ] = None,
    workers: Workers = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE.md", help="Write a page of Markdown here.")
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the page if it is there already.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Test the paper's claims on labelled messages: confirmed, not confirmed, or undecided.

    Every preset is tested in every regime. Runs that eventide compare has kept in the same folder
    are not done again.

    Example: eventide claims crisislex-t7 --presets paper,default \\
        --regimes paper-random,scarce-10,weak-vectors --out claims.md

    Example: eventide claims messages.jsonl --only order,margins --seeds 5
    """
    chosen_seeds = read_seeds(seeds)
    changes = {key.replace("__", "."): v for key, v in changed_settings(change or []).items()}
    from eventide.experiments import read_experiment_data
    from eventide.experiments.prepared import data_name, needed_lists
    from eventide.outputs import check_file
    from eventide.reports.claims import CLAIMS
    from eventide.reports.claims.conditions import conditions
    from eventide.reports.claims.findings import examine, needed
    from eventide.reports.claims.verdict_page import write_page
    from eventide.reports.figures.trained_runs import Runs, check_runs

    names = _listed(only or "")
    for called in names:
        CLAIMS.entry(called)
    name, variants = data_name(source), needed(names)
    asked: dict[str, Any] = {
        "seeds": chosen_seeds,
        "changes": changes,
        "kept": kept or Path(f"comparison-{name}"),
        "workers": workers,
    }
    chosen = conditions(_listed(presets), _listed(regimes or ""), split, encoder)
    options = [asked | each for each in chosen]
    for each in options:
        checked = {key: value for key, value in each.items() if key != "regime"}
        check_runs(variants, entities=entities, any_protocol=True, **checked)
    if out is not None:
        out = check_file(out, overwrite=overwrite, inputs=[source])
    intake = reading.read(source, lists=needed_lists(variants))
    data = read_experiment_data(intake, variants, entities=entities, name=name)
    with run_lines() as tell:
        runs = [Runs(data, watch=tell, **each) for each in options]
        try:
            report = examine(runs, names)
        except KeyboardInterrupt:
            say(f"stopped; the same command goes on with what is in {runs[0].folder}", err=True)
            raise typer.Exit(1) from None
    if out is not None:
        write_page(report, out)
    if as_json:
        print_json(report.as_dict())
    else:
        _show(report)
    if out is not None:
        say(f"page: {out}", err=as_json)


def _listed(text: str) -> list[str]:
    return [each.strip() for each in text.split(",") if each.strip()]


def _show(report: Report) -> None:
    from rich.console import Console

    from eventide.reports.claims.verdict_page import CAVEATS, details, margins, summary
    from eventide.reports.tables.table_formats import terminal

    console = Console(highlight=False)
    if not console.is_terminal:  # in a pipe nothing has to be folded
        console = Console(highlight=False, width=IN_A_PIPE)
    for table in (summary(report), *map(details, report.conditions), margins(report)):
        console.print(terminal(table))
        console.print()
    console.print(CAVEATS, style="dim", markup=False)
    console.print(f"Code: {report.code}", style="dim", markup=False)
    for note in report.notes:
        console.print(f"note: {note}", markup=False)
