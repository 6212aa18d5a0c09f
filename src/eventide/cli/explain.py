"""``eventide explain``: why one message was assigned as it was."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from eventide.cli.console import page_console, print_json, say
from eventide.cli.exits import stoppable
from eventide.cli.options import AllowDownload, AsJson, ModelPath, SaltFile, Sources
from eventide.cli.reading import Reading, reads_messages
from eventide.safe_text import safe

if TYPE_CHECKING:
    from eventide.model.explain import Explanation, Neighbour

NAMES = {
    "network": "the network",
    "probe": "logistic regression",
    "centroid": "the event's mean text",
    "nearest": "the nearest messages",
    "elements": "elements",
    "time": "the time",
}
"""What the experts of a pool are called."""
CONTRADICTION = 0.1
"""Conflict of two views from which on it is printed."""


@reads_messages
def explain(
    model: ModelPath,
    sources: Sources,
    reading: Reading,
    message_id: Annotated[
        str | None, typer.Option("--id", help="Which message; default: the most doubtful one.")
    ] = None,
    neighbours: Annotated[int, typer.Option(help="How many neighbours to show.", min=0)] = 5,
    salt_file: SaltFile = None,
    allow_download: AllowDownload = False,
    as_json: AsJson = False,
) -> None:
    """Show one message's opinions view by view, with the neighbours they rest on.

    Example: eventide explain model new.jsonl --id 407129710162759680
    """
    from eventide.model import load_model
    from eventide.model.explain import explain as explain_message

    with stoppable("nothing was explained"):
        reading.check(sources)
        loaded = load_model(model, allow_download=allow_download, salt_file=salt_file)
        intake = reading.read_for(loaded, sources)
        found = explain_message(loaded, intake, message_id, strongest=neighbours)
    if as_json:
        print_json(found.as_dict())
    else:
        show_explanation(found)


def show_explanation(found: Explanation) -> None:
    """Print the message, its fused opinion, then the opinion of each view."""
    say(f"{safe(found.id)}: {safe(found.text)}")
    say(
        f"-> {safe(found.event)}   doubt {found.doubt:.2f} (the event is right with "
        f"probability {found.probability:.2f}), belief {found.belief:.2f}"
    )
    say(
        f"   too little evidence (vacuity) {found.vacuity:.2f}, contradictory evidence "
        f"(dissonance) {found.dissonance:.2f}, conflict between views {found.conflict:.2f}"
    )
    for pair, conflict in sorted(found.conflicts.items(), key=lambda item: -item[1]):
        if conflict > CONTRADICTION:
            say(f"   {safe(pair)} contradict each other: {conflict:.2f}")
    if found.pool is not None:
        said = found.pool.experts.items()
        told = ", ".join(f"{NAMES[name]} {value:+.1f}" for name, value in said if abs(value) > 0.05)
        say(f"   for it, and against {safe(found.pool.next_event)} (log odds): {told or 'nothing'}")
    width = page_console().width
    for view in found.views:
        say(
            f"\n{safe(view.view)} view -> {safe(view.event)}   belief {view.belief:.2f}, "
            f"uncertainty {view.uncertainty:.2f}"
        )
        if not view.neighbours:
            say("   no neighbours: it shares no element with a known message")
            continue
        trend = "decays" if view.rate > 0 else "grows"
        say(
            f"   {view.neighbours:,} neighbours; weight {trend} with time "
            f"(rate {view.rate:.2f} per {found.time_unit}); its own weight {view.own_weight:.3f}"
        )
        for each in view.strongest:
            told = safe(f"{each.weight:.3f} {_told(each, found.time_unit)}", width - 3)
            say(f"   {told}")


def _told(neighbour: Neighbour, unit: str) -> str:
    event = neighbour.event or "not a training message"
    distance = neighbour.time_distance
    apart = f"same {unit}" if distance == 0 else f"{distance} {unit}{'s' * (distance != 1)} apart"
    text = "(text not kept; train with --keep-text)"
    if neighbour.text is not None:
        text = f"{neighbour.id}: {neighbour.text}"
    return f"{event}, {apart}: {text}"
