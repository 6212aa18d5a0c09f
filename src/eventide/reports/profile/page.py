"""The data profile as a page of rich text, with bars and sparklines."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from eventide.reports.profile import DataProfile
from eventide.reports.profile.connections import WHY_DIFFERENT, ViewProfile
from eventide.reports.profile.languages import UNCLEAR
from eventide.reports.profile.sections import Classes, Copies, EventCount, duration
from eventide.reports.terminal_table import plain_table
from eventide.safe_text import safe

SPARKS = "▁▂▃▄▅▆▇█"
PLAIN_SPARKS = ".:-=+*#@"


def bar(share: float, width: int, *, plain: bool = False) -> str:
    """Draw ``share`` (0 to 1) of ``width`` characters; any share above 0 gets at least one.

    >>> bar(0.5, 8, plain=True), bar(0.001, 8, plain=True), bar(0, 8)
    ('####', '#', '')
    """
    length = round(share * width)
    return ("#" if plain else "█") * (max(1, length) if share > 0 else 0)


def sparkline(counts: Sequence[int], width: int, *, plain: bool = False) -> str:
    """Draw counts as one line; more counts than ``width`` are summed in equal runs.

    >>> sparkline([0, 1, 4, 8], 10)
    ' ▁▄█'
    """
    run = -(-len(counts) // width) if counts else 1
    sums = [sum(counts[start : start + run]) for start in range(0, len(counts), run)]
    signs = PLAIN_SPARKS if plain else SPARKS
    top = max(sums, default=0)
    return "".join(signs[(count * 8 + top - 1) // top - 1] if count else " " for count in sums)


REASONS = 5
LARGEST_EVENTS, SMALLEST_EVENTS = 20, 8
BAR = 24
NAME = 34
RARE = 0.005
NUMBER = 5


def page(profile: DataProfile, *, plain: bool = False) -> RenderableType:
    """Format the profile without its next step; ``plain`` draws bars in ASCII."""
    parts: list[RenderableType] = [Text(safe(profile.source, 300), style="bold"), Text()]
    parts += [_overview(profile, plain), Text()]
    if profile.classes.events:
        parts += [_events(profile, plain), Text()]
    if profile.rows.kept:
        parts += [_views(profile), Text(), *_quality(profile), Text()]
        parts += [_cliques(profile.views), Text(), _copies(profile), Text()]
    parts += _advice(profile)
    return Group(*parts)


def _overview(profile: DataProfile, plain: bool) -> Table:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column()
    grid.add_row("Rows", _rows(profile))
    for name, value in (
        ("Time", _times(profile, plain)),
        ("Languages", _languages(profile)),
        ("Split", _splits(profile)),
        ("Events", _imbalance(profile.classes)),
        ("Training", _estimate(profile)),
    ):
        grid.add_row(name, Text(value))
    return grid


def _rows(profile: DataProfile) -> RenderableType:
    rows = profile.rows
    count = Text(f"{rows.read:,} read, {rows.kept:,} usable, {rows.quarantined:,} quarantined")
    if not rows.quarantined:
        return count
    causes = Table.grid(padding=(0, 1))
    causes.add_column(justify="right", no_wrap=True)
    for cause in rows.reasons[:REASONS]:
        what = safe(f"{cause.column or 'row'}: {cause.reason}", 120)
        example = f": {safe(cause.example, 30)!r}" if cause.example else ""
        where = f"row {cause.first_row:,}" + (f" of {safe(cause.file)}" if cause.file else "")
        causes.add_row(f"{cause.rows:,} x", Text(f"{what} ({where}{example})"))
    if hidden := rows.reasons[REASONS:]:
        total = sum(cause.rows for cause in hidden)
        causes.add_row(f"{total:,} x", f"for {len(hidden)} other reasons")
    return Group(count, causes, Text("write them out with --rejected FILE (.csv or .jsonl)"))


def _times(profile: DataProfile, plain: bool) -> str:
    times = profile.times
    if times.first is None or times.last is None:
        return "no message has a time"
    lines = [
        f"{times.first:%Y-%m-%d %H:%M} to {times.last:%Y-%m-%d %H:%M} UTC, {times.days:,} days"
    ]
    if len(times.per_day) > 1:
        drawing = sparkline(times.per_day, 50, plain=plain)
        lines.append(f"{drawing}  busiest day {max(times.per_day):,} messages")
    if times.same_event_nearest is not None and len(profile.classes.events) > 1:
        lines.append(f"nearest message in time has the same event: {times.same_event_nearest:.0%}")
    return "\n".join(lines)


def _languages(profile: DataProfile) -> str:
    found = sorted(profile.languages.guesses, key=lambda each: each.language == UNCLEAR)
    shown = [f"{each.language} {each.share:.0%}" for each in found if each.share >= RARE]
    if not shown:
        return "nothing to look at"
    return ", ".join(shown) + " (a guess from script and small words)"


def _splits(profile: DataProfile) -> str:
    splits = profile.splits
    if not splits.train + splits.val + splits.test:
        return "none given: training will hold out a stratified part"
    none = f", in no split {splits.none:,}" if splits.none else ""
    return f"train {splits.train:,}, validation {splits.val:,}, test {splits.test:,}{none}"


def _imbalance(classes: Classes) -> str:
    if not classes.events:
        return f"none: {classes.unlabelled:,} unlabelled messages"
    text = f"{len(classes.events):,}"
    if classes.imbalance is not None:
        text += f", imbalance {classes.imbalance:.1f} (largest / smallest)"
    if classes.training_imbalance is not None:
        text += f", in training {classes.training_imbalance:.1f}"
    if classes.unlabelled:
        text += f"; {classes.unlabelled:,} messages unlabelled"
    return text


def _estimate(profile: DataProfile) -> str:
    if not profile.rows.kept:
        return "nothing to train on"
    about = profile.estimate
    seconds = about.seconds_per_epoch
    return (
        f"about {duration(seconds)} an epoch, at most {about.epochs} epochs: up to about "
        f"{duration(seconds * about.epochs)};\nabout {about.memory / 1e9:.1f} GB of memory "
        "(default settings on two cores, going by the number of messages)"
    )


def _events(profile: DataProfile, plain: bool) -> Table:
    events = profile.classes.events
    split = bool(profile.splits.train + profile.splits.val + profile.splits.test)
    table = _table("Event", "", "messages", *(("train", "val", "test") if split else ()), text=2)
    most = events[0].messages
    tail = max(LARGEST_EVENTS, len(events) - SMALLEST_EVENTS)

    def add(event: EventCount) -> None:
        counts = (event.train, event.val, event.test) if split else ()
        table.add_row(
            _cut(safe(event.event, NAME)),
            _cut(bar(event.messages / most, BAR, plain=plain), "cyan"),
            *(f"{count:,}" for count in (event.messages, *counts)),
        )

    for event in events[:LARGEST_EVENTS]:
        add(event)
    if hidden := events[LARGEST_EVENTS:tail]:
        total = sum(event.messages for event in hidden)
        table.add_row(_cut(f"... {len(hidden):,} more", "dim"), "", f"{total:,}")
    for event in events[tail:]:
        add(event)
    return table


def _views(profile: DataProfile) -> Table:
    names = ("distinct elements", "per message", "at most", "messages with none")
    table = _table("View", "from", *names, text=2)
    for view in profile.views:
        share = view.without / profile.rows.kept
        table.add_row(
            _cut(view.name),
            _cut(" + ".join(view.columns)),
            f"{view.elements:,}",
            f"{view.mean:.2f}",
            f"{view.most:,}",
            f"{view.without:,} ({share:.0%})",
        )
    return table


def _quality(profile: DataProfile) -> list[RenderableType]:
    beside = any(each.paper is not None for each in profile.quality)
    columns = ("edges", "within one event", *(("the paper's",) if beside else ()))
    table = _table("View quality", *columns, text=1)
    for each in profile.quality:
        shares = (each.purity, each.paper) if beside else (each.purity,)
        table.add_row(
            _cut(each.view), f"{each.edges:,}", *(_formatted(share, ".4f") for share in shares)
        )
    return [table, Text(WHY_DIFFERENT, style="dim")] if beside else [table]


def _cliques(views: tuple[ViewProfile, ...]) -> Table:
    table = _table("Largest cliques", "element", "messages", "of all", text=2)
    for view in views:
        for index, clique in enumerate(view.cliques):
            table.add_row(
                _cut("" if index else view.name),
                _cut(safe(clique.element, 60)),
                f"{clique.messages:,}",
                f"{clique.share:.1%}",
            )
    return table


def _copies(profile: DataProfile) -> Table:
    table = _table(
        "Repeated texts", "groups", "messages", "surplus", "largest", "also in training",
        "conflicting labels", text=1,
    )  # fmt: skip
    near = f"nearly (Jaccard {profile.repeats.threshold:g})"
    for name, copies in (("word for word", profile.repeats.exact), (near, profile.repeats.near)):
        table.add_row(_cut(name), *(f"{count:,}" for count in _counts(copies)))
    return table


def _counts(copies: Copies) -> tuple[int, ...]:
    return (
        copies.groups,
        copies.messages,
        copies.surplus,
        copies.largest,
        copies.leaked,
        copies.conflicting,
    )


def _advice(profile: DataProfile) -> list[RenderableType]:
    warned = [found.text for found in profile.warnings]
    parts: list[RenderableType] = []
    for title, sentences in (
        ("How it was read", [note for note in profile.notes if note not in warned]),
        ("Worth knowing", warned),
    ):
        if sentences:
            grid = Table.grid(padding=(0, 1))
            for sentence in sentences:  # sentences quote names from the data
                grid.add_row(Text(" -"), Text(safe(sentence)))
            parts += [Text(title, style="bold yellow"), grid, Text()]
    return parts


def next_lines(profile: DataProfile) -> str:
    """Format the next step; a command gets its own unwrapped line, ready to paste."""
    words, colon, command = profile.next_step.partition(": eventide ")
    if not colon:
        return f"Next  {safe(words)}"
    return f"Next  {safe(words)}:\n\n  eventide {safe(command)}"


def _table(*names: str, text: int) -> Table:
    """A table without rules: the first ``text`` columns hold text, the others numbers."""
    table = plain_table()
    for index, name in enumerate(names):
        if index < text:
            table.add_column(_cut(name))
        else:  # on a narrow terminal text is cut, never a number
            widest = max(map(len, name.split()))
            table.add_column(name, justify="right", min_width=max(widest, NUMBER))
    return table


def _formatted(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)


def _cut(text: str, style: str = "") -> Text:
    """Text on one line, cut if the terminal is too narrow."""
    return Text(text, style=style, no_wrap=True, overflow="ellipsis")
