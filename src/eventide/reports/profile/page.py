"""The data profile as a page of rich text, with bars and sparklines."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from eventide.reports.profile import DataProfile
from eventide.reports.profile.connections import WHY_DIFFERENT, ViewProfile
from eventide.reports.profile.languages import UNCLEAR
from eventide.reports.profile.sections import Classes, Copies, EventCount, spoken
from eventide.safe_text import safe

SPARKS = "▁▂▃▄▅▆▇█"
PLAIN_SPARKS = ".:-=+*#@"


def bar(share: float, width: int, *, plain: bool = False) -> str:
    """Draw ``share`` (0 to 1) of ``width`` characters; anything above nothing is seen.

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


def page(facts: DataProfile, *, plain: bool = False) -> RenderableType:
    """Lay the facts out, but for what to do next; ``plain`` draws bars in ASCII."""
    parts: list[RenderableType] = [Text(safe(facts.source, 300), style="bold"), Text()]
    parts += [_overview(facts, plain), Text()]
    if facts.classes.events:
        parts += [_events(facts, plain), Text()]
    if facts.rows.kept:
        parts += [_views(facts), Text(), *_quality(facts), Text()]
        parts += [_cliques(facts.views), Text(), _copies(facts), Text()]
    parts += _advice(facts)
    return Group(*parts)


def _overview(facts: DataProfile, plain: bool) -> Table:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column()
    grid.add_row("Rows", _rows(facts))
    for name, value in (
        ("Time", _times(facts, plain)),
        ("Languages", _languages(facts)),
        ("Split", _sides(facts)),
        ("Events", _imbalance(facts.classes)),
        ("Training", _estimate(facts)),
    ):
        grid.add_row(name, Text(value))
    return grid


def _rows(facts: DataProfile) -> RenderableType:
    rows = facts.rows
    count = Text(f"{rows.read:,} read, {rows.kept:,} usable, {rows.quarantined:,} quarantined")
    if not rows.quarantined:
        return count
    causes = Table.grid(padding=(0, 1))
    causes.add_column(justify="right", no_wrap=True)
    for cause in rows.reasons[:REASONS]:
        what = safe(f"{cause.column or 'row'}: {cause.reason}", 120)
        example = f": {safe(cause.example, 30)!r}" if cause.example else ""
        place = f"row {cause.first_row:,}" + (f" of {safe(cause.file)}" if cause.file else "")
        causes.add_row(f"{cause.rows:,} x", Text(f"{what} ({place}{example})"))
    if hidden := rows.reasons[REASONS:]:
        total = sum(cause.rows for cause in hidden)
        causes.add_row(f"{total:,} x", f"for {len(hidden)} other reasons")
    return Group(count, causes, Text("write them out with --rejected FILE (.csv or .jsonl)"))


def _times(facts: DataProfile, plain: bool) -> str:
    times = facts.times
    if times.first is None or times.last is None:
        return "no message has a time"
    lines = [
        f"{times.first:%Y-%m-%d %H:%M} to {times.last:%Y-%m-%d %H:%M} UTC, {times.days:,} days"
    ]
    if len(times.per_day) > 1:
        drawing = sparkline(times.per_day, 50, plain=plain)
        lines.append(f"{drawing}  busiest day {max(times.per_day):,} messages")
    if times.same_event_nearest is not None and len(facts.classes.events) > 1:
        lines.append(f"nearest message in time has the same event: {times.same_event_nearest:.0%}")
    return "\n".join(lines)


def _languages(facts: DataProfile) -> str:
    found = sorted(facts.languages.guesses, key=lambda each: each.language == UNCLEAR)
    shown = [f"{each.language} {each.share:.0%}" for each in found if each.share >= RARE]
    if not shown:
        return "nothing to look at"
    return ", ".join(shown) + " (a guess from script and small words)"


def _sides(facts: DataProfile) -> str:
    sides = facts.sides
    if not sides.train + sides.val + sides.test:
        return "none given: training will hold out a stratified part"
    none = f", on no side {sides.none:,}" if sides.none else ""
    return f"train {sides.train:,}, validation {sides.val:,}, test {sides.test:,}{none}"


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


def _estimate(facts: DataProfile) -> str:
    if not facts.rows.kept:
        return "nothing to train on"
    about = facts.estimate
    seconds = about.seconds_per_epoch
    return (
        f"about {spoken(seconds)} an epoch, at most {about.epochs} epochs: up to about "
        f"{spoken(seconds * about.epochs)};\nabout {about.memory / 1e9:.1f} GB of memory "
        "(default settings on two cores, going by the number of messages)"
    )


def _events(facts: DataProfile, plain: bool) -> Table:
    events = facts.classes.events
    split = bool(facts.sides.train + facts.sides.val + facts.sides.test)
    table = _table("Event", "", "messages", *(("train", "val", "test") if split else ()), text=2)
    most = events[0].messages
    tail = max(LARGEST_EVENTS, len(events) - SMALLEST_EVENTS)

    def add(event: EventCount) -> None:
        sides = (event.train, event.val, event.test) if split else ()
        table.add_row(
            _cut(safe(event.event, NAME)),
            _cut(bar(event.messages / most, BAR, plain=plain), "cyan"),
            *(f"{count:,}" for count in (event.messages, *sides)),
        )

    for event in events[:LARGEST_EVENTS]:
        add(event)
    if hidden := events[LARGEST_EVENTS:tail]:
        total = sum(event.messages for event in hidden)
        table.add_row(_cut(f"... {len(hidden):,} more", "dim"), "", f"{total:,}")
    for event in events[tail:]:
        add(event)
    return table


def _views(facts: DataProfile) -> Table:
    names = ("distinct elements", "per message", "at most", "messages with none")
    table = _table("View", "from", *names, text=2)
    for view in facts.views:
        share = view.without / facts.rows.kept
        table.add_row(
            _cut(view.name),
            _cut(" + ".join(view.columns)),
            f"{view.elements:,}",
            f"{view.mean:.2f}",
            f"{view.most:,}",
            f"{view.without:,} ({share:.0%})",
        )
    return table


def _quality(facts: DataProfile) -> list[RenderableType]:
    beside = any(each.paper is not None for each in facts.quality)
    columns = ("edges", "within one event", *(("the paper's",) if beside else ()))
    table = _table("View quality", *columns, text=1)
    for each in facts.quality:
        shares = (each.purity, each.paper) if beside else (each.purity,)
        table.add_row(
            _cut(each.view), f"{each.edges:,}", *(_number(share, ".4f") for share in shares)
        )
    return [table, Text(WHY_DIFFERENT, style="dim")] if beside else [table]


def _cliques(views: tuple[ViewProfile, ...]) -> Table:
    table = _table("Largest cliques", "element", "messages", "of all", text=2)
    for view in views:
        for place, clique in enumerate(view.cliques):
            table.add_row(
                _cut("" if place else view.name),
                _cut(safe(clique.element, 60)),
                f"{clique.messages:,}",
                f"{clique.share:.1%}",
            )
    return table


def _copies(facts: DataProfile) -> Table:
    table = _table(
        "Repeated texts", "groups", "messages", "surplus", "largest", "also in training",
        "several events", text=1,
    )  # fmt: skip
    near = f"nearly (Jaccard {facts.repeats.threshold:g})"
    for name, copies in (("word for word", facts.repeats.exact), (near, facts.repeats.near)):
        table.add_row(_cut(name), *(f"{count:,}" for count in _counts(copies)))
    return table


def _counts(copies: Copies) -> tuple[int, ...]:
    return (
        copies.groups,
        copies.messages,
        copies.surplus,
        copies.largest,
        copies.leaked,
        copies.disputed,
    )


def _advice(facts: DataProfile) -> list[RenderableType]:
    warned = [found.text for found in facts.warnings]
    parts: list[RenderableType] = []
    for title, sentences in (
        ("How it was read", [note for note in facts.notes if note not in warned]),
        ("Worth knowing", warned),
    ):
        if sentences:
            grid = Table.grid(padding=(0, 1))
            for sentence in sentences:  # they quote names from the data
                grid.add_row(Text(" -"), Text(safe(sentence)))
            parts += [Text(title, style="bold yellow"), grid, Text()]
    return parts


def next_lines(facts: DataProfile) -> str:
    """Say what to do next; a command has a line of its own, never folded, to be pasted."""
    words, colon, command = facts.next_step.partition(": eventide ")
    if not colon:
        return f"Next  {safe(words)}"
    return f"Next  {safe(words)}:\n\n  eventide {safe(command)}"


def _table(*names: str, text: int) -> Table:
    """A table without lines: the first ``text`` columns hold words, the others numbers."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold", pad_edge=False)
    for place, name in enumerate(names):
        if place < text:
            table.add_column(_cut(name))
        else:  # on a narrow terminal words are cut, never numbers
            widest = max(map(len, name.split()))
            table.add_column(name, justify="right", min_width=max(widest, NUMBER))
    return table


def _number(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)


def _cut(text: str, style: str = "") -> Text:
    """Words on one line, cut where the terminal is too narrow."""
    return Text(text, style=style, no_wrap=True, overflow="ellipsis")
