"""``eventide discover``: new messages, grouped into candidate events."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eventide.cli.console import command, page_console, print_json, say, show
from eventide.cli.exits import stoppable
from eventide.cli.options import AllowDownload, AsJson, FalseAlarms, ModelPath, SaltFile
from eventide.cli.reading import Reading, reads_messages
from eventide.progress import step
from eventide.reports.terminal_table import plain_table
from eventide.safe_text import safe

if TYPE_CHECKING:
    from eventide.novelty.candidates import Candidates

SHOWN = 20
WIDE = 100


@reads_messages
def discover(
    model: ModelPath,
    reading: Reading,
    out: Annotated[
        Path,
        typer.Option(
            metavar="DIRECTORY",
            help="The folder of candidates: made if it is not there, else carried on.",
        ),
    ],
    sources: Annotated[
        list[str] | None,
        typer.Argument(metavar="[FILE...]", help="Messages; those judged new are grouped."),
    ] = None,
    accept: Annotated[
        list[str] | None,
        typer.Option(metavar="ID[=NAME]", help="Accept a candidate as an event. Repeatable."),
    ] = None,
    dismiss: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="Dismiss a candidate as off-topic. Repeatable."),
    ] = None,
    false_alarms: FalseAlarms = None,
    salt_file: SaltFile = None,
    allow_download: AllowDownload = False,
    as_json: AsJson = False,
) -> None:
    """Group messages about no known event into candidate events.

    Run it every day with the same folder: candidates keep their ids, grow and merge. The folder
    holds texts and authors in clear. Messages that join a dismissed candidate are off-topic.

    Example: eventide discover model monday.jsonl --out candidates

    Example: eventide discover model --out candidates --accept c0001=flood --dismiss c0002
    """
    from eventide.cli.assign_checks import check_verdicts
    from eventide.errors import InputError
    from eventide.model import load_model
    from eventide.model.discovery import decide, discover_events, load_candidates, save_candidates
    from eventide.novelty.candidates import Candidates
    from eventide.outputs import check_folder, reserved
    from eventide.storage import holds_manifest

    if not sources and not accept and not dismiss:
        raise InputError(
            "nothing to do", next_step="give a file of messages, --accept or --dismiss"
        )
    check_verdicts(None, false_alarms)
    named: dict[str, str | None] = {}
    for each in accept or []:
        ident, _, name = (part.strip() for part in each.partition("="))
        named[ident] = name or None
    with stoppable("the candidates are as they were"):
        inputs = [] if not sources else reading.check(sources)
        target = check_folder(out, overwrite=True, inputs=[*inputs, model])
        with reserved(target):
            there = holds_manifest(target)
            found = load_candidates(target) if there else Candidates.none()
            if sources:
                loaded = load_model(model, allow_download=allow_download, salt_file=salt_file)
                intake = reading.read_for(loaded, sources)
                with step(f"looking for new events in {len(intake.messages):,} messages"):
                    found = discover_events(loaded, intake, found, false_alarms=false_alarms)
            decided = decide(found, named, dismiss or [])
            save_candidates(found, target)
    if as_json:
        print_json([each.as_dict() for each in found.candidates])
        return
    show_candidates(found)
    alone = found.messages["candidate"].null_count()
    say(
        f"{len(found.candidates):,} candidates of {len(found.messages) - alone:,} messages; "
        f"{alone:,} new messages are still alone"
    )
    for one in decided:
        say(f"{one.id} {one.state}: {one.name}")
    say(f"candidates: {target}")
    if any(each.state == "accepted" for each in found.candidates):
        learned = command("update", model, target / "accepted.jsonl", "--out", f"{model}-updated")
        say(f"teach the model what was accepted:\n  {learned}")
    if any(each.state == "dismissed" for each in found.candidates):
        taught = ("--off-topic", target / "dismissed.jsonl", "--out", f"{model}-updated")
        say(f"teach the model what was dismissed:\n  {command('update', model, *taught)}")
    if found.candidates and all(each.state == "open" for each in found.candidates):
        first = found.candidates[0].id
        say("accept the first as an event, or dismiss it as off-topic:")
        say("  " + command("discover", model, "--out", target, "--accept", f"{first}=NAME"))
        say("  " + command("discover", model, "--out", target, "--dismiss", first))


def show_candidates(found: Candidates) -> None:
    """Print the largest candidates: id, volume, days, keywords, an example."""
    console = page_console()
    wide = console.width >= WIDE
    table = plain_table("Candidate events")
    table.expand = True
    for name in ("id", "state"):
        table.add_column(name, no_wrap=True)
    table.add_column("messages", justify="right", no_wrap=True)
    if wide:
        table.add_column("purity", justify="right", no_wrap=True)
        table.add_column("first", no_wrap=True)
    table.add_column("keywords", no_wrap=True, ratio=1)
    largest = sorted(found.candidates, key=lambda each: -each.volume)[:SHOWN]
    for each in largest:
        more = [f"{each.purity:.2f}", (each.first or "")[:16]] if wide else []
        about = safe(", ".join(each.keywords) or each.name, console.width)
        table.add_row(each.id, each.state, f"{each.volume:,}", *more, about)
    if largest:
        show(table, console)
        say()
