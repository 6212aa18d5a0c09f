"""One invented message: a line about the event, what people put around it, and their spelling."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from eventide.data.sample.cast import Event, Phrases

VAGUE = 0.27  # share of messages that name nobody and no place
SECOND_LINE = 0.3  # share that goes on with a vague line
_CHOICE = re.compile(r"\[([^\[\]]*)\]")
_WORD = re.compile(r"[a-zA-Z]{5,}")
Item = TypeVar("Item")


def pick(rng: np.random.Generator, items: Sequence[Item]) -> Item:
    """Choose one of ``items`` evenly."""
    return items[int(rng.integers(len(items)))]


def write(
    event: Event, twin: Event, book: Phrases, friends: Sequence[str], rng: np.random.Generator
) -> str:
    """Write one message about ``event``; ``twin`` is the look-alike that leaks into the noise."""
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
    """Settle the alternatives and slots of ``line``; each slot is drawn anew."""
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
    """Add an opener, a closer or an aside now and then, then spell like people do."""
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
    """Own tags, tags of the kind, the look-alike's by mistake, and tags about nothing."""
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
    """Accounts of the event, the look-alike's, newsrooms that cover everything, and friends."""
    chances = (
        (0.2, event.accounts),
        (0.03, twin.accounts),
        (0.08, book.noise_accounts),
        (0.08, friends),
    )
    return [f"@{pick(rng, names)}" for chance, names in chances if rng.random() < chance]


def _link(event: Event, rng: np.random.Generator) -> str:
    """Mostly one of the event's few articles, else a page nobody else links to."""
    own = rng.random() < 0.6
    page = f"{event.name[:3]}{rng.integers(6)}" if own else f"p{rng.integers(10**6)}"
    return f"https://news.example/{page}"
