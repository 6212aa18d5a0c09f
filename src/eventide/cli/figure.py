"""``eventide figure``: draw a figure of the paper on any labelled messages."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from eventide.cli.options import (
    AsJson,
    Columns,
    GraphSplit,
    Preset,
    Seed,
    changed_settings,
    column_mapping,
)
from eventide.errors import BadSetting


def figure(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Which figure; --list names them.")
    ] = None,
    source: Annotated[
        str | None,
        typer.Argument(metavar="DATA", help="A file of labelled messages, or a dataset's name."),
    ] = None,
    list_them: Annotated[
        bool, typer.Option("--list", help="List the figures and what each shows.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write it here (.png, .pdf or .svg); else NAME.png."),
    ] = None,
    methods: Annotated[
        str | None, typer.Option(help="Methods to show, with commas: ce,bcl,ucl-ec.")
    ] = None,
    view: Annotated[
        str | None, typer.Option(help="Whose vectors to show: hashtag, entity or user.")
    ] = None,
    seed: Seed = 0,
    seeds: Annotated[
        int, typer.Option(help="How many seeds, from --seed on (groups, sensitivity).", min=1)
    ] = 1,
    split: GraphSplit = "random",
    preset: Preset = "default",
    encoder: Annotated[str | None, typer.Option(help="As for eventide train.")] = None,
    change: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="GROUP.NAME=VALUE", help="Change a setting. Repeatable."),
    ] = None,
    column: Columns = None,
    kept: Annotated[
        Path | None,
        typer.Option("--runs", help="Folder that keeps finished runs, as compare's (sensitivity)."),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(help="Worker processes (sensitivity); all cores by default.", min=1),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Draw a figure of the paper, and print every number in it.

    Example: eventide figure groups crisislex-t7 --methods ce,ucl-ec --out groups.pdf
    """
    if list_them:
        show_list(as_json)
        return
    if name is None:
        raise BadSetting("which figure?", next_step="see: eventide figure --list")
    from eventide.reports.figures.making import make_figure
    from eventide.reports.figures.style import checked_path, save

    path = checked_path(out or Path(f"{name}.png"))
    given = {} if encoder is None else {"encoder": encoder}
    made = make_figure(
        name,
        source,
        methods=[each.strip() for each in (methods or "").split(",") if each.strip()],
        seeds=range(seed, seed + seeds),
        view=view,
        columns=column_mapping(column or []) or None,
        split=split,
        preset=preset,
        changes={key.replace("__", "."): v for key, v in changed_settings(change or []).items()},
        kept=kept,
        workers=workers,
        watch=_watch,
        **given,
    )
    if as_json:
        typer.echo(json.dumps(made.as_dict(), indent=1, allow_nan=False))
    else:
        for line in made.numbers.lines():
            typer.echo(line)
    if out is not None or not as_json:
        save(made.figure, path)
        typer.echo(f"figure: {path}", err=as_json)


def show_list(as_json: bool) -> None:
    """Name the figures and what each shows."""
    from eventide.reports.figures import FIGURES

    if as_json:
        typer.echo(json.dumps([{"name": each.name, "shows": each.summary} for each in FIGURES]))
        return
    for each in FIGURES:
        typer.echo(f"{each.name:<20}{each.summary}")


def _watch(what: str) -> None:
    """Tell a person what is going on; say nothing in a pipe."""
    if sys.stderr.isatty():
        typer.echo(what, err=True)
