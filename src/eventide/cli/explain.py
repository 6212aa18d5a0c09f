"""``eventide explain``: why one message was assigned as it was."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from eventide.cli.options import AsJson, ModelPath, Source

if TYPE_CHECKING:
    from eventide.classifier.explanation import Explanation, Neighbour


def explain(
    model: ModelPath,
    source: Source,
    message_id: Annotated[
        str | None, typer.Option("--id", help="Which message; default: the most uncertain one.")
    ] = None,
    neighbours: Annotated[int, typer.Option(help="How many neighbours to show.", min=0)] = 5,
    as_json: AsJson = False,
) -> None:
    """Show one message's opinions view by view, with the neighbours they rest on.

    Example: eventide explain model new.jsonl --id 407129710162759680
    """
    from eventide.classifier import load_model
    from eventide.classifier.explanation import explain as explain_message

    found = explain_message(load_model(model), source, message_id, strongest=neighbours)
    if as_json:
        typer.echo(json.dumps(found.as_dict(), ensure_ascii=False, indent=1))
    else:
        show_explanation(found)


def show_explanation(found: Explanation) -> None:
    """Print the message, what all views together say, then view by view."""
    typer.echo(f"{found.id}: {' '.join(found.text.split())}")
    typer.echo(
        f"-> {found.event}   belief {found.belief:.2f}, uncertainty {found.uncertainty:.2f}, "
        f"conflict between views {found.conflict:.2f}"
    )
    for pair, conflict in sorted(found.conflicts.items(), key=lambda item: -item[1]):
        if conflict > 0.1:
            typer.echo(f"   {pair} contradict each other: {conflict:.2f}")
    for view in found.views:
        typer.echo(
            f"\n{view.view} view -> {view.event}   belief {view.belief:.2f}, "
            f"uncertainty {view.uncertainty:.2f}"
        )
        if not view.neighbours:
            typer.echo("   shares nothing with any known message: it speaks for itself alone")
            continue
        fading = "fades" if view.rate > 0 else "grows"
        typer.echo(
            f"   {view.neighbours:,} neighbours; weight {fading} with time "
            f"(rate {view.rate:.2f} per {found.time_unit}); its own weight {view.own_weight:.3f}"
        )
        for each in view.strongest:
            typer.echo(f"   {each.weight:.3f}  {_told(each, found.time_unit)}")


def _told(neighbour: Neighbour, unit: str) -> str:
    event = neighbour.event or "not a training message"
    distance = neighbour.time_distance
    apart = f"same {unit}" if distance == 0 else f"{distance} {unit}{'s' * (distance != 1)} apart"
    text = "(text not kept; train with --keep-text)"
    if neighbour.text is not None:
        text = f"{neighbour.id}: {' '.join(neighbour.text.split())[:70]}"
    return f"{event}, {apart}  {text}"
