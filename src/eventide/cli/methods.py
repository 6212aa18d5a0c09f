"""``eventide methods``: which methods there are, and every setting."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from eventide.cli.options import AsJson


def methods(
    settings: Annotated[
        bool, typer.Option("--settings", help="List every setting with its value in a preset.")
    ] = False,
    preset: Annotated[str, typer.Option(help="Which preset's values to show.")] = "default",
    as_json: AsJson = False,
) -> None:
    """List the methods, or with --settings everything that --set can change."""
    rows = _settings(preset) if settings else _methods()
    if as_json:
        typer.echo(json.dumps(rows, indent=1))
        return
    for row in rows:
        typer.echo(
            "  ".join(
                f"{cell:<{width}}" for cell, width in zip(row.values(), (32, 14, 0), strict=False)
            )
        )


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
