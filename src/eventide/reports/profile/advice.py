"""Advice before training: warnings from the data profile, and one next step."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING

from eventide.data.event_names import missing_label_notes, spelling_notes
from eventide.data.readers.paths import STANDARD_INPUT
from eventide.reports.profile.sections import ProfileSection

if TYPE_CHECKING:
    from eventide.reports.profile import DataProfile

FEW = 10  # a class with fewer messages is hardly learned
HUB = 0.3  # warn if one element connects a larger share of all messages
ISOLATED = 0.8  # warn if a larger share of messages has no element in a view
CLOCK = 0.9  # warn if a larger share has its nearest message in time in the same event
QUARANTINE = 0.01  # warn if a larger share of rows is quarantined
UNEQUAL = 10.0  # imbalance above which accuracy hides the small classes
PAPER_HELD_OUT = 50  # 20 validation + 30 test messages per class
LARGE = 200_000  # exact training on more messages takes hours
FIRST_YEAR = 2000  # earlier times are mostly epochs in the wrong unit
NAMES = 4


class ProfileWarning(ProfileSection):
    """A warning: a code for programs and a sentence for readers."""

    code: str
    text: str


def warnings(profile: DataProfile) -> tuple[ProfileWarning, ...]:
    """Collect every warning that applies, the most serious first."""
    found = (
        *_about_rows(profile),
        *_about_classes(profile),
        *_about_splits(profile),
        *_about_repeats(profile),
        *_about_times(profile),
        *_about_views(profile),
    )
    return tuple(ProfileWarning(code=code, text=text) for code, text in found)


def next_step(profile: DataProfile) -> str:
    """Return the one next step."""
    rows = profile.rows
    if not rows.kept:
        return f"No message could be used: {rows.remedy}. Then check again."
    if 2 * rows.quarantined > rows.read:
        return f"More than half of the rows cannot be used: {rows.remedy}. Then check again."
    if not profile.classes.labelled:
        return (
            "No message carries an event. Name the label column, for example "
            "--column event=label, or keep this file for `eventide assign`."
        )
    if len(profile.classes.events) < 2:
        return "Training needs two events or more: add messages of another event."
    if STANDARD_INPUT in profile.sources:
        return "Save the messages to a file and train on it: eventide train FILE --out model"
    mapping = [f"{ours}={theirs}" for ours, theirs in profile.columns.items()]
    options = [word for pair in mapping for word in ("--column", pair)]
    words = ["eventide", "train", *profile.sources, "--out", "model", *options, *profile.options]
    return f"Train on it: {shlex.join(words)}"


Found = Iterator[tuple[str, str]]


def _about_rows(profile: DataProfile) -> Found:
    rows = profile.rows
    if rows.read and rows.quarantined > QUARANTINE * rows.read:
        share = rows.quarantined / rows.read
        yield (
            "quarantine",
            f"{rows.quarantined:,} of {rows.read:,} rows ({share:.0%}) were quarantined; "
            "write them to a file with --rejected FILE",
        )
    if rows.kept >= LARGE:
        yield (
            "large",
            f"{rows.kept:,} messages: the hidden layers of nearly all of them are computed every 8 "
            "steps of training. --set training.layer1_refresh=100: every 100 steps, and faster",
        )


def _about_classes(profile: DataProfile) -> Found:
    events = profile.classes.events
    if len(events) == 1:
        yield "one-class", f"all labelled messages are about one event ({events[0].event})"
    split = profile.splits.train > 0
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
    for text in missing_label_notes(counts):
        yield "missing-label", text
    for text in spelling_notes(counts):
        yield "alike", text
    if profile.classes.imbalance and profile.classes.imbalance >= UNEQUAL:
        yield (
            "unequal",
            f"the largest class is {profile.classes.imbalance:.0f} times the smallest: "
            "read macro-F1 beside accuracy",
        )


def _about_splits(profile: DataProfile) -> Found:
    events, splits = profile.classes.events, profile.splits
    held_out = splits.val + splits.test
    if held_out and not splits.train:
        yield "no-train", "the split column names no training message"
        return
    untrained = [e.event for e in events if splits.train and not e.train and e.val + e.test]
    if untrained:
        yield (
            "untrained",
            f"{_count(untrained, 'class is', 'classes are')} held out but never trained on: "
            f"{_names(untrained)}",
        )
    untested = [e.event for e in events if splits.test and e.train and not e.test]
    if untested:
        yield (
            "untested",
            f"{_count(untested, 'class has', 'classes have')} no test message: {_names(untested)}",
        )
    if splits.none and splits.train:
        yield "no-split", f"{splits.none:,} messages are in no split"


def _about_repeats(profile: DataProfile) -> Found:
    exact, near = profile.repeats.exact, profile.repeats.near
    if near.leaked:
        yield (
            "leaked",
            f"{near.leaked:,} validation or test messages have a copy in training "
            f"({exact.leaked:,} word for word): scores will be too high; "
            "split with near-duplicates kept together",
        )
    if exact.conflicting:
        yield (
            "conflicting-labels",
            f"{_count_of(exact.conflicting, 'text has', 'texts have')} conflicting labels: "
            "the same text with different events, which no method can predict",
        )


def _about_times(profile: DataProfile) -> Found:
    times = profile.times
    if times.missing:
        yield "no-time", f"{times.missing:,} messages have no time: they are not weighted by time"
    if times.first and times.first.year < FIRST_YEAR:
        yield (
            "early",
            f"the first message is from {times.first:%Y-%m-%d}: "
            "are the times in seconds or milliseconds as you expect?",
        )
    if times.first and times.first == times.last and profile.rows.kept > 1:
        yield "one-time", "all messages have the same time"
    several = len(profile.classes.events) > 1
    if several and times.same_event_nearest is not None and times.same_event_nearest >= CLOCK:
        yield (
            "clock",
            f"time alone predicts the event: for {times.same_event_nearest:.0%} of the "
            "messages the nearest message in time is about the same event. Compare every "
            "method with the nearest-in-time baseline",
        )


def _about_views(profile: DataProfile) -> Found:
    for view in profile.views:
        if profile.rows.kept and view.without >= ISOLATED * profile.rows.kept:
            yield (
                "isolated",
                f"{view.without / profile.rows.kept:.0%} of the messages have no element in the "
                f"{view.name} view: it adds little information about them",
            )
        for clique in view.cliques:
            if clique.share > HUB:
                yield (
                    "hub",
                    f"{clique.element} ({clique.column}) connects {clique.share:.0%} of all "
                    "messages: it carries little information about the event",
                )


def _count(items: list[str], one: str, many: str) -> str:
    return _count_of(len(items), one, many)


def _count_of(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


def _names(items: list[str]) -> str:
    rest = f" and {len(items) - NAMES} more" if len(items) > NAMES else ""
    return ", ".join(items[:NAMES]) + rest
