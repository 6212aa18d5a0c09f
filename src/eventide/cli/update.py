"""``eventide update``: a model remembers new messages, learns labels, lets old messages go."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eventide.cli.console import command, note, print_json, say
from eventide.cli.exits import stoppable
from eventide.cli.options import AllowDownload, AsJson, ModelPath, Overwrite, SaltFile
from eventide.cli.reading import Reading, reads_messages
from eventide.progress import step

if TYPE_CHECKING:
    from eventide.model.update import UpdateReport


@reads_messages
def update(
    model: ModelPath,
    reading: Reading,
    out: Annotated[
        Path, typer.Option(metavar="DIRECTORY", help="Write the updated model here, or onto MODEL.")
    ],
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FILE...]",
            help="Messages to remember; those with an event are learned from.",
        ),
    ] = None,
    overwrite: Overwrite = False,
    steps: Annotated[
        int, typer.Option(help="Steps of fine-tuning; 0 sets new events by a prototype alone.")
    ] = 10,
    off_topic: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Messages dismissed as off-topic: what is like them is not new."
        ),
    ] = None,
    forget_before: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Messages before this leave the memory: 2013-06-21."),
    ] = None,
    salt_file: SaltFile = None,
    allow_download: AllowDownload = False,
    as_json: AsJson = False,
) -> None:
    """Remember new messages, learn labels and new events, let old messages go.

    Messages without an event join the memory, and nothing is trained. Labelled messages, corrected
    labels and new events are learned from where the model is, with all it has learned from before.
    Nothing is approximate: with graph.earlier_only the states of the memory stay as they are while
    messages join in order of time; else they are computed again.

    A stopped or killed update leaves the old model or the new one, never half of one.

    Example: eventide update model labelled.csv --out model2

    Example: eventide update model today.jsonl --out model --overwrite --forget-before 2013-06-01
    """
    from eventide.errors import InputError
    from eventide.model import load_model
    from eventide.model.artefact import save_model
    from eventide.outputs import check_folder, reserved

    if not sources and forget_before is None and off_topic is None:
        raise InputError(
            "nothing to do: no messages, none that are off-topic, and no time to forget",
            next_step="give a file of messages, --off-topic FILE, or --forget-before TIME",
        )
    if steps < 0:
        raise InputError(f"{steps} steps are not possible", next_step="give --steps 0 or more")
    with stoppable("the model is as it was"):
        inputs = [] if not sources else reading.check(sources)
        inputs += [] if off_topic is None else reading.check(off_topic)
        target = check_folder(out, overwrite=overwrite, inputs=inputs)
        with reserved(target):
            loaded = load_model(model, allow_download=allow_download, salt_file=salt_file)
            intake = None if not sources else reading.read_for(loaded, sources)
            gone = None if off_topic is None else reading.read_for(loaded, off_topic)
            count = 0 if intake is None else len(intake.messages)
            with step(f"updating with {count:,} messages"):
                report = loaded.update(
                    intake, steps=steps, off_topic=gone, forget_before=forget_before
                )
                save_model(loaded, target, keep_text=loaded.remembered_ is not None)
    if as_json:
        print_json(report.as_dict())
        return
    for line in told(report):
        say(line)
    for each in report.notes:
        note(each)
    say(f"model: {target}")
    say(f"next: {command('assign', target, 'NEW_MESSAGES.jsonl')}")


def told(report: UpdateReport) -> list[str]:
    """Say in lines what changed."""
    lines = [f"{report.remembered:,} messages remembered; {report.memory:,} in memory"]
    if report.learned or report.corrected:
        lines.append(f"{report.learned:,} labels learned, {report.corrected:,} corrected")
    if report.new_events:
        lines.append(f"new events: {', '.join(report.new_events)}")
    if report.replaced:
        lines.append(f"{report.replaced:,} messages with a known id and another text replaced")
    if report.late and report.remembered:
        lines.append(f"{report.late:,} of them are of days before the latest in memory")
    lines.append(f"states of the memory: {report.states}")
    if report.dismissed:
        lines.append(f"{report.dismissed:,} messages learned as off-topic")
    if report.experts:
        said = ", ".join(f"{name} {weight:.2f}" for name, weight in report.experts.items())
        lines.append(f"experts: {said}")
    if report.aged:
        lines.append(f"{report.aged:,} older messages left the memory")
    if report.validation_before is not None and report.validation_after is not None:
        lines.append(
            "validation accuracy on the events known before: "
            f"{report.validation_before:.3f} before, {report.validation_after:.3f} after"
        )
    return [*lines, f"{report.seconds:.1f} s"]
