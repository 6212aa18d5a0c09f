"""Names of events that look like mistakes: a way to write "none", or one name in two spellings."""

from __future__ import annotations

import re
from collections.abc import Iterable

MISSING = frozenset(("na", "n/a", "#n/a", "nan", "null", "none", "nil", "<na>", "-", "--"))
"""Ways to write that there is no event, in lower case; read as events, for some may be one."""

_BLANKS = re.compile(r"[\s_-]+")


def says_missing(event: str) -> bool:
    """Tell whether a name looks like a missing label.

    >>> says_missing("N/A"), says_missing("Nantes")
    (True, False)
    """
    return event.strip().lower() in MISSING


def alike(events: Iterable[str]) -> list[list[str]]:
    """Group names that differ in case, blanks and hyphens only; names on their own are left out.

    >>> alike(["FIRE", "fire", "flood", "wild fire", "Wild-Fire"])
    [['FIRE', 'fire'], ['wild fire', 'Wild-Fire']]
    """
    groups: dict[str, list[str]] = {}
    for event in events:
        groups.setdefault(_BLANKS.sub(" ", event.casefold()).strip(), []).append(event)
    return [names for names in groups.values() if len(names) > 1]
