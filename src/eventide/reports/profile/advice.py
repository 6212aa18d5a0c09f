"""What a practitioner should hear before training: warnings from the facts, and a next step."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING

from eventide.data.event_names import about_missing, about_spelling
from eventide.data.readers.paths import STANDARD_INPUT
from eventide.reports.profile.sections import ProfileSection

if TYPE_CHECKING:
    from eventide.reports.profile import DataProfile

FEW = 10  # messages under which a class is hardly learned
HUB = 0.3  # share of all messages that one element may connect
ISOLATED = 0.8  # share of messages that may be alone in a view
CLOCK = 0.9  # share of messages whose nearest in time may be about the same event
QUARANTINE = 0.01  # share of rows that may be put aside
UNEQUAL = 10.0  # imbalance above which accuracy hides the small classes
PAPER_HELD_OUT = 50  # 20 validation + 30 test messages per class
LARGE = 200_000  # messages from which on exact training takes hours
FIRST_YEAR = 2000  # earlier times are mostly epochs in the wrong unit
NAMES = 4


class Warned(ProfileSection):
    """A warning: a code for programs, a sentence for people."""

    code: str
    text: str


def warnings(facts: DataProfile) -> tuple[Warned, ...]:
    """Collect every warning that the facts give reason for, the gravest first."""
    found = (
        *_about_rows(facts),
        *_about_classes(facts),
        *_about_sides(facts),
        *_about_repeats(facts),
        *_about_times(facts),
        *_about_views(facts),
    )
    return tuple(Warned(code=code, text=text) for code, text in found)


def next_step(facts: DataProfile) -> str:
    """Say the one thing to do next."""
    rows = facts.rows
    if not rows.kept:
        return f"No message could be used: {rows.remedy}. Then check again."
    if 2 * rows.quarantined > rows.read:
        return f"More than half of the rows cannot be used: {rows.remedy}. Then check again."
    if not facts.classes.labelled:
        return (
            "No message carries an event. Name the label column, for example "
            "--column event=label, or keep this file for `eventide assign`."
        )
    if len(facts.classes.events) < 2:
        return "Training needs two events or more: add messages of another event."
    if STANDARD_INPUT in facts.sources:
        return "Save the messages to a file and train on it: eventide train FILE --out model"
    mapping = [f"{ours}={theirs}" for ours, theirs in facts.columns.items()]
    options = [word for pair in mapping for word in ("--column", pair)]
    words = ["eventide", "train", *facts.sources, "--out", "model", *options, *facts.options]
    return f"Train on it: {shlex.join(words)}"


Found = Iterator[tuple[str, str]]


def _about_rows(facts: DataProfile) -> Found:
    rows = facts.rows
    if rows.read and rows.quarantined > QUARANTINE * rows.read:
        share = rows.quarantined / rows.read
        yield (
            "quarantine",
            f"{rows.quarantined:,} of {rows.read:,} rows ({share:.0%}) were put aside; "
            "write them out with --rejected FILE and look",
        )
    if rows.kept >= LARGE:
        yield (
            "large",
            f"{rows.kept:,} messages: every exact step of training computes nearly all of them. "
            "--set training.layer1_refresh=100 does so every 100 steps: far quicker, not exact",
        )


def _about_classes(facts: DataProfile) -> Found:
    events = facts.classes.events
    if len(events) == 1:
        yield "one-class", f"all labelled messages are about one event ({events[0].event})"
    split = facts.sides.train > 0
    sizes = [(e.event, e.train if split else e.messages) for e in events]
    listed = [f"{event} ({count})" for event, count in sizes if count < FEW]
    if listed:
        kind = "training messages" if split else "messages"
        yield (
            "few",
            f"{_count(listed, 'class has', 'classes have')} fewer than {FEW} {kind}: "
            f"{_names(listed)}. Too few to learn from reliably; expect high uncertainty there",
        )
    small = [e.event for e in events if e.messages <= PAPER_HELD_OUT]
    if small and not split:
        yield (
            "small",
            f"{_count(small, 'class has', 'classes have')} {PAPER_HELD_OUT} messages or fewer: "
            "too few for the paper's 20/30 validation and test messages per class; "
            f"use a proportional split ({_names(small)})",
        )
    counts = {e.event: e.messages for e in events}
    for text in about_missing(counts):
        yield "missing-label", text
    for text in about_spelling(counts):
        yield "alike", text
    if facts.classes.imbalance and facts.classes.imbalance >= UNEQUAL:
        yield (
            "unequal",
            f"the largest class is {facts.classes.imbalance:.0f} times the smallest: "
            "read macro-F1 beside accuracy",
        )


def _about_sides(facts: DataProfile) -> Found:
    events, sides = facts.classes.events, facts.sides
    held_out = sides.val + sides.test
    if held_out and not sides.train:
        yield "no-train", "the split column names no training message"
        return
    untrained = [e.event for e in events if sides.train and not e.train and e.val + e.test]
    if untrained:
        yield (
            "untrained",
            f"{_count(untrained, 'class is', 'classes are')} held out but never trained on: "
            f"{_names(untrained)}",
        )
    untested = [e.event for e in events if sides.test and e.train and not e.test]
    if untested:
        yield (
            "untested",
            f"{_count(untested, 'class has', 'classes have')} no test message: {_names(untested)}",
        )
    if sides.none and sides.train:
        yield "no-side", f"{sides.none:,} messages are on no side of the split"


def _about_repeats(facts: DataProfile) -> Found:
    exact, near = facts.repeats.exact, facts.repeats.near
    if near.leaked:
        yield (
            "leaked",
            f"{near.leaked:,} validation or test messages have a copy in training "
            f"({exact.leaked:,} word for word): scores will flatter; "
            "split with near-duplicates kept together",
        )
    if exact.disputed:
        yield (
            "disputed",
            f"{_count_of(exact.disputed, 'text carries', 'texts carry')} more than one event: "
            "labels that no method can satisfy",
        )


def _about_times(facts: DataProfile) -> Found:
    times = facts.times
    if times.missing:
        yield "no-time", f"{times.missing:,} messages have no time: they are not weighted by time"
    if times.first and times.first.year < FIRST_YEAR:
        yield (
            "early",
            f"the first message is from {times.first:%Y-%m-%d}: "
            "are the times in seconds or milliseconds as you expect?",
        )
    if times.first and times.first == times.last and facts.rows.kept > 1:
        yield "one-time", "all messages have the same time"
    several = len(facts.classes.events) > 1
    if several and times.same_event_nearest is not None and times.same_event_nearest >= CLOCK:
        yield (
            "clock",
            f"time alone gives the event away: for {times.same_event_nearest:.0%} of the "
            "messages the nearest in time is about the same event. Compare with the "
            "nearest-in-time yardstick before praising a method",
        )


def _about_views(facts: DataProfile) -> Found:
    for view in facts.views:
        if facts.rows.kept and view.without >= ISOLATED * facts.rows.kept:
            yield (
                "isolated",
                f"{view.without / facts.rows.kept:.0%} of the messages have no element in the "
                f"{view.name} view: it can say little about them",
            )
        for clique in view.cliques:
            if clique.share > HUB:
                yield (
                    "hub",
                    f"{clique.element} ({clique.column}) connects {clique.share:.0%} of all "
                    "messages: it says little about the event",
                )


def _count(items: list[str], one: str, many: str) -> str:
    return _count_of(len(items), one, many)


def _count_of(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


def _names(items: list[str]) -> str:
    rest = f" and {len(items) - NAMES} more" if len(items) > NAMES else ""
    return ", ".join(items[:NAMES]) + rest
