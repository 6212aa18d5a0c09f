"""What the sample is made of: invented events and phrases, authors, bursts in time, retweets."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray


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


DAY_MS = 86_400_000
_HEADS = (
    "river",
    "night",
    "old",
    "tiny",
    "sunny",
    "grey",
    "just",
    "real",
    "hello",
    "north",
    "salty",
)
_TAILS = ("otter", "baker", "pilot", "mila", "jonas", "fox", "nurse", "anke", "teo", "radio", "sam")
_HOURS = np.array([1, 1, 1, 1, 1, 2, 4, 6, 7, 6, 6, 6, 7, 6, 5, 5, 6, 7, 8, 9, 9, 7, 5, 2], float)


def authors(count: int, rng: np.random.Generator) -> list[str]:
    """Invent ``count`` account names, all different."""
    heads, tails = rng.integers(len(_HEADS), size=count), rng.integers(len(_TAILS), size=count)
    return [
        f"{_HEADS[h]}_{_TAILS[t]}{i}" for i, (h, t) in enumerate(zip(heads, tails, strict=True))
    ]


def writers(event_at: int, size: int, crowd: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw ``size`` authors (places in the crowd): most near the event's own, some from anywhere.

    Few authors write a lot and most write once; a fifth of the messages comes from people who
    follow several events.
    """
    local = (event_at * 97 + rng.geometric(0.02, size)) % crowd
    anywhere = rng.geometric(0.01, size) % crowd
    return np.where(rng.random(size) < 0.2, anywhere, local)


def moments(event: Event, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw ``size`` milliseconds since the sample's first midnight: a burst, by day and by hour."""
    first, last = event.days
    concentration = 5.0
    share = rng.beta(1 + concentration * event.peak, 1 + concentration * (1 - event.peak), size)
    day = np.floor(first + share * (last - first + 1)).astype(np.int64)
    hour = rng.choice(24, size, p=_HOURS / _HOURS.sum())
    return np.asarray(
        day * DAY_MS + hour * 3_600_000 + rng.integers(3_600_000, size=size), np.int64
    )


def retweet(author: str, text: str) -> str:
    """Repeat a message the way people pass it on: attributed and cut at 140 characters.

    >>> retweet("mila", "Water rising fast")
    'RT @mila: Water rising fast'
    """
    passed_on = f"RT @{author}: {text}"
    return passed_on if len(passed_on) <= 140 else passed_on[:139] + "…"
