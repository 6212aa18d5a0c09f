"""``eventide methods``: which methods there are, and every setting."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from eventide.cli.console import IN_A_PIPE, page_console, print_json, show
from eventide.cli.options import AsJson, one_of
from eventide.reports.terminal_table import plain_table
from eventide.safe_text import safe


def methods(
    settings: Annotated[
        bool, typer.Option("--settings", help="List every setting with its value in a preset.")
    ] = False,
    preset: Annotated[str, typer.Option(help="Which preset's values to show.")] = "default",
    tuned: Annotated[
        bool, typer.Option("--tuned", help="List what tuning chose for every method, and its NLL.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """List the methods, with --settings all that --set can change, or with --tuned what was chosen.

    Example: eventide methods --settings --preset paper

    Example: eventide methods --tuned
    """
    from eventide.settings import PRESETS

    one_of(preset, list(PRESETS), "--preset")
    rows = _tuned() if tuned else _settings(preset) if settings else _methods()
    if as_json:
        print_json(rows)
        return
    console = page_console()
    if not console.is_terminal:
        console.width = IN_A_PIPE
    table = plain_table()
    table.show_header = False
    for name in list(rows[0])[:-1]:
        table.add_column(name, no_wrap=True)
    table.add_column()
    for row in rows:
        table.add_row(*map(safe, row.values()))
    show(table, console)


def _methods() -> list[dict[str, str]]:
    from eventide.methods import METHODS

    return [{"name": entry.name, "summary": entry.summary} for entry in METHODS]


def _settings(name: str) -> list[dict[str, str]]:
    from eventide.settings import descriptions, preset, resolve

    values = resolve(preset(name)).model_dump(mode="json")
    return [
        {"setting": dotted, "value": json.dumps(values[group][leaf]), "what": what}
        for dotted, what in descriptions().items()
        for group, _, leaf in [dotted.partition(".")]
    ]


def _tuned() -> list[dict[str, str]]:
    from eventide.methods.tuned import tuning_note, tuning_record

    rows = []
    for name, row in tuning_record()["methods"].items():
        scores = [trial["score"] for trial in row.get("trials", ()) if trial["kept"]]
        rows.append(
            {
                "name": name,
                "nll": f"{scores[0]:.3f} to {scores[-1]:.3f}" if scores else "",
                "chosen": ", ".join(f"{key}={value}" for key, value in row["chosen"].items())
                or tuning_note(name)
                or "as it started",
            }
        )
    return rows
