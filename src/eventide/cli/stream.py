"""``eventide stream``: messages in order of time, assigned, scored and learned day by day."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eventide.cli.console import note, page_console, print_json, say, show
from eventide.cli.exits import stoppable
from eventide.cli.options import AsJson, Overwrite, Seed, Source, one_of
from eventide.cli.reading import Reading, reads_messages
from eventide.methods import DEFAULT_METHOD
from eventide.reports.terminal_table import plain_table

if TYPE_CHECKING:
    from eventide.experiments.stream import StreamResult

ALL = f"{DEFAULT_METHOD},ce,lr-encoder,lr-daily,nearest-centroid,nearest-in-time,single-pass"


@reads_messages
def stream(
    source: Source,
    reading: Reading,
    methods: Annotated[
        str, typer.Option(metavar="NAME,NAME", help="Who takes part, separated by commas.")
    ] = ALL,
    budget: Annotated[int, typer.Option(help="Labels bought a day.", min=0)] = 10,
    choose: Annotated[
        str, typer.Option(metavar="HOW", help="Who is labelled: method (its choice) or random.")
    ] = "method",
    start: Annotated[
        float, typer.Option(help="Share of the messages that are labelled at the start.")
    ] = 0.2,
    most: Annotated[
        int | None, typer.Option(metavar="N", help="At most N messages of each event.", min=1)
    ] = None,
    encoder: Annotated[str, typer.Option(help="What turns text into vectors.")] = (
        "wordllama+tfidf-svd"
    ),
    epochs: Annotated[int | None, typer.Option(help="Epochs of the first training.", min=1)] = None,
    seed: Seed = 0,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw the figure here (.png, .pdf or .svg)."),
    ] = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Run methods over messages in order of time: assign, score, buy labels, update.

    Until an event has its first label, "new" is the right answer for its messages.

    Example: eventide stream crisislex-lt28 --most 100 --epochs 5 --out stream.png
    """
    from eventide.corpus.messages import Messages
    from eventide.errors import BadSetting
    from eventide.experiments.stream import StreamDay, run_stream, stream_messages
    from eventide.outputs import check_file

    one_of(choose, ("method", "random"), "--choose")
    names = [one_of(each.strip(), ALL.split(","), "--methods") for each in methods.split(",")]
    if not 0 < start < 1:
        raise BadSetting(f"--start cannot be {start:g}", next_step="give a share such as 0.2")
    with stoppable("nothing was written"):
        inputs = reading.check(source)
        target = out
        if out is not None:
            suffixes = (".png", ".pdf", ".svg")
            target = check_file(out, overwrite=overwrite, inputs=inputs, suffixes=suffixes)
        intake = Messages.of(reading.read(source, need_time=True), entities="rules")
        frame = stream_messages(intake.messages, most, seed)

        def told(name: str, day: StreamDay) -> None:
            share = day.right / max(day.messages, 1)
            say(f"{name} {day.day}: {day.messages:,} messages, {share:.2f} right", err=True)

        results = run_stream(
            frame,
            names,
            budget=budget,
            choose=choose,
            start=start,
            encoder=encoder,
            epochs=epochs,
            seed=seed,
            watch=(lambda _name, _day: None) if as_json else told,
        )
        if target is not None:
            from eventide.reports.stream_figure import draw_stream

            draw_stream(results, target)
    if as_json:
        print_json([each.as_dict() for each in results])
        return
    show_results(results)
    note("right: share of all messages, ± half of its 95 % interval; known: of known events;")
    note("false: known events called new; new: new events called new; flag: events so found before")
    note("their first label; delay: messages until then, the median over all new events;")
    note("group: events of which one candidate, 90 % pure, has 60 %; pure: purity of candidates")
    show_differences(results)
    if target is not None:
        say(f"figure: {target}")


def show_results(results: list[StreamResult]) -> None:
    """Print one line per contestant."""
    table = plain_table("The stream in all")
    table.add_column("method", no_wrap=True)
    for name in ("right", "±", "known", "false", "new", "flag", "delay", "group", "pure", "s/day"):
        table.add_column(name, justify="right", no_wrap=True, min_width=4)
    for result in results:
        told = result.summary()
        delay, purity = told["median_delay"], told["purity"]
        table.add_row(
            told["name"],
            f"{told['accuracy']:.3f}",
            f"{(told['high'] - told['low']) / 2:.3f}",
            f"{told['accuracy_known']:.3f}",
            f"{told['false_alarms']:.3f}",
            f"{told['recall_new']:.3f}",
            f"{told['events_flagged']}/{told['new_events']}",
            "-" if delay is None else f"{delay:g}",
            f"{told['events_grouped']}/{told['new_events']}",
            "-" if purity is None else f"{purity:.2f}",
            f"{told['seconds_a_day']:.2f}",
        )
    show(table, page_console())
    say()


def show_differences(results: list[StreamResult]) -> None:
    """Print by how much the first contestant is right more often than each other one."""
    from eventide.experiments.stream import difference_interval

    ours, *others = results
    for other in others:
        gain, low, high = difference_interval(ours, other)
        say(f"{ours.name} - {other.name}: {gain:+.3f} right ({low:+.3f} to {high:+.3f}, by days)")
