"""Notes on event names that look like mistakes: missing labels, and two spellings of one name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from eventide.safe_text import safe

NAMED = 4  # most names in a note, and most notes of one kind

MISSING = frozenset(("na", "n/a", "#n/a", "nan", "null", "none", "nil", "<na>", "-", "--"))
"""Names that usually mean a missing label, in lower case; they are kept as events, with a note."""

_BLANKS = re.compile(r"[\s_-]+")


def says_missing(event: str) -> bool:
    """Tell whether a name looks like a missing label.

    >>> says_missing("N/A"), says_missing("Nantes")
    (True, False)
    """
    return event.strip().lower() in MISSING


def alike(events: Iterable[str]) -> list[list[str]]:
    """Group names that differ only in case, blanks and hyphens; single names are left out.

    >>> alike(["FIRE", "fire", "flood", "wild fire", "Wild-Fire"])
    [['FIRE', 'fire'], ['wild fire', 'Wild-Fire']]
    """
    groups: dict[str, list[str]] = {}
    for event in events:
        groups.setdefault(_BLANKS.sub(" ", event.casefold()).strip(), []).append(event)
    return [names for names in groups.values() if len(names) > 1]


def missing_label_notes(counts: Mapping[str, int]) -> list[str]:
    """Notes on events that look like missing labels, with advice.

    >>> missing_label_notes({"NA": 3, "fire": 9})[0][:40]
    "3 messages have the event 'NA': if that "
    """
    odd = [event for event in counts if says_missing(event)][:NAMED]
    return [
        f"{_messages(counts[event])} have the event {safe(event)!r}: if that means no event,"
        " leave the cell empty"
        for event in odd
    ]


def spelling_notes(counts: Mapping[str, int]) -> list[str]:
    """Notes on events that may be the same, with advice.

    >>> spelling_notes({"FIRE": 3, "fire": 9})[0][:45]
    "'FIRE' (3), 'fire' (9) are kept apart: if the"
    """
    return [
        f"{_counted(names, counts)} are kept apart: if they are one event, write them one way"
        for names in alike(counts)[:NAMED]
    ]


def _counted(events: Sequence[str], counts: Mapping[str, int]) -> str:
    shown = [f"{safe(event, 40)!r} ({counts[event]:,})" for event in events[:NAMED]]
    return ", ".join(shown) + (", ..." if len(events) > NAMED else "")


def _messages(count: int) -> str:
    return f"{count:,} message{'s' if count != 1 else ''}"
