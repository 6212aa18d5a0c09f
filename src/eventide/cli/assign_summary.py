"""What ``eventide assign`` shows: the most doubtful messages, events and verdicts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eventide.cli.assign_checks import VERDICTS
from eventide.cli.console import command, page_console, say, show
from eventide.reports.terminal_table import plain_table
from eventide.safe_text import safe

if TYPE_CHECKING:
    import polars as pl

SHOWN, EVENTS = 20, 30
"""Messages and events that are shown by default."""

NARROW, WIDE, WIDEST = 60, 110, 140
"""Widths of a terminal from which on names are whole, ids and reasons are shown, conflicts too."""


def show_opinions(kept: pl.DataFrame, shown: int) -> None:
    """Print the most doubtful messages: event, doubt and its reasons, text."""
    from eventide.model.opinion_frame import SEPARATOR

    console = page_console()
    wide, widest = console.width >= WIDE, console.width >= WIDEST
    figures = ["doubt"] + ["vacuity", "dissonance"] * wide + ["conflict"] * widest
    table = plain_table("Most doubtful messages")
    table.expand = True
    table.add_column("event", no_wrap=True, max_width=max(10, console.width // 4))
    for name in figures:
        header = name if console.width >= NARROW or len(name) < 6 else name[:3] + "."
        table.add_column(header, justify="right", no_wrap=True, min_width=len(header))
    verdicts = console.width >= NARROW
    if verdicts:
        table.add_column("verdict", no_wrap=True)
    sets = "set" in kept.columns
    if sets:
        table.add_column("or", no_wrap=True, max_width=max(12, console.width // 4))
    table.add_column("text", no_wrap=True, ratio=1)
    if wide:
        table.add_column("id", no_wrap=True, max_width=24)
    worst = kept.sort("doubt", descending=True, maintain_order=True).head(shown)
    for row in worst.iter_rows(named=True):
        said = [f"{row[name]:.2f}" for name in figures] + [row["verdict"]] * verdicts
        ids = [safe(row["id"])] if wide else []
        said += [safe(", ".join(row["set"].split(SEPARATOR)[1:]))] if sets else []
        table.add_row(safe(row["event"]), *said, safe(row["text"], console.width), *ids)
    if len(kept):
        show(table, console)
        say()


def show_events(opinions: pl.DataFrame) -> None:
    """Count the messages of each event, the largest first."""
    import polars as pl

    counts = opinions.group_by("event").agg(pl.len().alias("messages"), pl.col("doubt").mean())
    show_counts(counts.sort("messages", "event", descending=[True, False]))


def show_counts(ranked: pl.DataFrame) -> None:
    """Print the messages and the mean doubt of each event, in the order given."""
    for event, number, doubt in ranked.head(EVENTS).rows():
        say(f"{number:>8,}  {safe(event, 60)}  (mean doubt {doubt:.2f})")
    if len(ranked) > EVENTS:
        rest = ranked[EVENTS:]
        say(f"{rest['messages'].sum():>8,}  in {len(rest):,} smaller events")


def show_verdicts(opinions: pl.DataFrame, inputs: list[object]) -> None:
    """Count the verdicts, and say what to do with new messages."""
    counts = {each: int((opinions["verdict"] == each).sum()) for each in VERDICTS}
    say("verdicts: " + ", ".join(f"{count:,} {each}" for each, count in counts.items()))
    if counts["new"] and inputs:
        say("group the new messages into candidate events:")
        say("  " + command("discover", *inputs, "--out", "candidates"))
