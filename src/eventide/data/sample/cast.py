"""What the sample is made of: invented events and phrases, from the tables beside this file."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any


@dataclass(frozen=True)
class Event:
    """One invented event: who and what belongs to it, and when it is talked about."""

    name: str
    kind: str
    messages: int
    days: tuple[int, int]
    peak: float
    twin: str
    places: tuple[str, ...]
    people: tuple[str, ...]
    bodies: tuple[str, ...]
    subject: tuple[str, ...]
    tags: tuple[str, ...]
    accounts: tuple[str, ...]
    other: dict[str, float]


@dataclass(frozen=True)
class Phrases:
    """How people write: lines by (kind, language, told or vague), and what surrounds a line."""

    lines: dict[tuple[str, str, str], tuple[str, ...]]
    openers: tuple[str, ...]
    closers: tuple[str, ...]
    asides: tuple[str, ...]
    shared_tags: dict[str, tuple[str, ...]]
    noise_tags: tuple[str, ...]
    noise_accounts: tuple[str, ...]
    slang: dict[str, str]


def _table(name: str) -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath(name).read_text(encoding="utf-8"))


@cache
def events() -> dict[str, Event]:
    """All events by name, largest first.

    >>> len(events()), next(iter(events()))
    (12, 'halvmar-flood')
    """

    def frozen(row: dict[str, Any]) -> Event:
        fields: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in row.items()
        }
        return Event(**fields)

    return {row["name"]: frozen(row) for row in _table("events.toml")["event"]}


@cache
def phrases() -> Phrases:
    """The phrase book of every kind of event."""
    table = _table("phrases.toml")
    kinds = {event.kind for event in events().values()}
    return Phrases(
        lines={
            (kind, language, style): tuple(lines)
            for kind in sorted(kinds)
            for language, styles in table[kind].items()
            for style, lines in styles.items()
        },
        openers=tuple(table["around"]["openers"]),
        closers=tuple(table["around"]["closers"]),
        asides=tuple(table["around"]["asides"]),
        shared_tags={kind: tuple(tags) for kind, tags in table["shared_tags"].items()},
        noise_tags=tuple(table["noise"]["tags"]),
        noise_accounts=tuple(table["noise"]["accounts"]),
        slang=dict(table["slang"]),
    )
