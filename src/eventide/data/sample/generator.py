"""Invented events and messages of the sample: authors, times, wording, hashtags and retweets."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Event:
    """One invented event: its names and tags, its size, and its days."""

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
    """Phrases of messages: lines by (kind, language, told or vague), and text around a line."""

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
    """The phrases of every kind of event."""
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


def draw_authors(
    event_at: int, size: int, count: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Draw the author indices of ``size`` messages: most from the event's own authors.

    A few authors write many messages and most write one; a fifth of the messages comes from
    authors who write about several events.
    """
    local = (event_at * 97 + rng.geometric(0.02, size)) % count
    anywhere = rng.geometric(0.01, size) % count
    return np.where(rng.random(size) < 0.2, anywhere, local)


def message_times(event: Event, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw ``size`` times of a burst, in milliseconds since the sample's first midnight."""
    first, last = event.days
    concentration = 5.0
    share = rng.beta(1 + concentration * event.peak, 1 + concentration * (1 - event.peak), size)
    day = np.floor(first + share * (last - first + 1)).astype(np.int64)
    hour = rng.choice(24, size, p=_HOURS / _HOURS.sum())
    return np.asarray(
        day * DAY_MS + hour * 3_600_000 + rng.integers(3_600_000, size=size), np.int64
    )


def retweet(author: str, text: str) -> str:
    """Write a retweet: with the author's name, cut at 140 characters.

    >>> retweet("mila", "Water rising fast")
    'RT @mila: Water rising fast'
    """
    passed_on = f"RT @{author}: {text}"
    return passed_on if len(passed_on) <= 140 else passed_on[:139] + "…"


VAGUE = 0.27  # share of messages that name no person and no place
SECOND_LINE = 0.3  # share of messages with a second, vague line
_CHOICE = re.compile(r"\[([^\[\]]*)\]")
_WORD = re.compile(r"[a-zA-Z]{5,}")
Item = TypeVar("Item")


def pick(rng: np.random.Generator, items: Sequence[Item]) -> Item:
    """Choose one of ``items`` uniformly."""
    return items[int(rng.integers(len(items)))]


def write(
    event: Event, twin: Event, book: Phrases, friends: Sequence[str], rng: np.random.Generator
) -> str:
    """Write one message about ``event``; ``twin`` is the similar event used as noise."""
    language = _language(event, rng)
    style = "vague" if rng.random() < VAGUE else "told"
    parts = [_fill(pick(rng, book.lines[event.kind, language, style]), event, rng)]
    if rng.random() < SECOND_LINE:
        parts[0] += ". " + _fill(pick(rng, book.lines[event.kind, language, "vague"]), event, rng)
    if language == "en":
        parts = _surround(parts, style, twin, book, rng)
    parts.insert(
        int(rng.integers(2)) * len(parts), " ".join(_mentions(event, twin, book, friends, rng))
    )
    parts.append(" ".join(f"#{tag}" for tag in _tags(event, twin, book, style, rng)))
    if rng.random() < 0.12:
        parts.append(_link(event, rng))
    return " ".join(part for part in parts if part)


def _language(event: Event, rng: np.random.Generator) -> str:
    draw = float(rng.random())
    for language, share in event.other.items():
        if draw < share:
            return language
        draw -= share
    return "en"


def _fill(line: str, event: Event, rng: np.random.Generator) -> str:
    """Fill the alternatives and slots of ``line``; each slot is drawn separately."""
    line = _CHOICE.sub(lambda found: pick(rng, found[1].split("|")), line)
    slots = {
        "{place}": event.places,
        "{person}": event.people,
        "{body}": event.bodies,
        "{subject}": event.subject,
    }
    for slot, choices in slots.items():
        while slot in line:
            line = line.replace(slot, pick(rng, choices), 1)
    while "{number}" in line:
        line = line.replace("{number}", str(rng.integers(2, 90)), 1)
    return line[0].upper() + line[1:]


def _surround(
    parts: list[str], style: str, twin: Event, book: Phrases, rng: np.random.Generator
) -> list[str]:
    """Sometimes add an opener, a closer or an aside; then add spelling mistakes."""
    if rng.random() < 0.2:
        parts = [pick(rng, book.openers), *parts]
    if rng.random() < 0.25:
        parts = [*parts, "- " + pick(rng, book.closers).replace("{twin}", pick(rng, twin.places))]
    if rng.random() < (0.2 if style == "vague" else 0.08):
        parts = [*parts, pick(rng, book.asides)]
    return _misspell(" ".join(parts), book.slang, rng).split(" ")


def _misspell(text: str, slang: dict[str, str], rng: np.random.Generator) -> str:
    draw = rng.random(3)
    if draw[0] < 0.3:
        text = " ".join(slang.get(word, word) for word in text.split(" "))
    if draw[1] < 0.15 and (words := list(_WORD.finditer(text))):
        word = pick(rng, words)
        at = word.start() + int(rng.integers(1, len(word[0]) - 2))
        text = text[:at] + text[at + 1] + text[at] + text[at + 2 :]
    if draw[2] < 0.12:
        text = text.lower()
    elif draw[2] < 0.18:
        text += "!" * int(rng.integers(1, 4))
    return text


def _tags(
    event: Event, twin: Event, book: Phrases, style: str, rng: np.random.Generator
) -> list[str]:
    """Hashtags of the event, of its kind, of the twin by mistake, and unrelated ones."""
    chances = (
        (0.22 if style == "vague" else 0.42, event.tags),
        (0.22, book.shared_tags[event.kind]),
        (0.05, twin.tags),
        (0.12, book.noise_tags),
    )
    return [pick(rng, tags) for chance, tags in chances if rng.random() < chance]


def _mentions(
    event: Event, twin: Event, book: Phrases, friends: Sequence[str], rng: np.random.Generator
) -> list[str]:
    """Mentions of the event's accounts, of the twin's, of newsrooms, and of other authors."""
    chances = (
        (0.2, event.accounts),
        (0.03, twin.accounts),
        (0.08, book.noise_accounts),
        (0.08, friends),
    )
    return [f"@{pick(rng, names)}" for chance, names in chances if rng.random() < chance]


def _link(event: Event, rng: np.random.Generator) -> str:
    """A link: mostly to one of the event's few articles, else to a page of its own."""
    own = rng.random() < 0.6
    page = f"{event.name[:3]}{rng.integers(6)}" if own else f"p{rng.integers(10**6)}"
    return f"https://news.example/{page}"
