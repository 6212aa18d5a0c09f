"""Published locks: lists of hashed ids that say which messages of known datasets are locked.

A list names every message that the rule was applied to, by a hash of its id: the locked ones, and
the open ones, so that a selection without locked messages is still recognised.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from importlib.resources import files

PUBLISHED = ("crisislex-1",)
"""Lists in the folder ``locks``; a list that was published never changes."""

SALT = b"eventide list 1"
_HEADINGS = ("[locked]", "[open]")


@dataclass(frozen=True)
class PublishedLock:
    """Hashes of the ids of locked and open messages."""

    name: str
    locked: frozenset[str]
    known: frozenset[str]


@cache
def published_locks() -> tuple[PublishedLock, ...]:
    """Read the lists that are shipped.

    >>> [each.name for each in published_locks()]
    ['crisislex-1']
    """
    folder = files("eventide.data").joinpath("locks")
    return tuple(
        _parsed(name, folder.joinpath(f"{name}.txt").read_text(encoding="ascii"))
        for name in PUBLISHED
    )


def hashed_ids(ids: Iterable[str]) -> list[str]:
    """Hash ids to 12 hexadecimal digits.

    >>> hashed_ids(["406921"])
    ['ddc79f3ebc7f']
    """
    return [blake2b(each.encode(), digest_size=6, salt=SALT).hexdigest() for each in ids]


def list_text(
    name: str, version: int, sources: Sequence[str], locked: Iterable[str], opened: Iterable[str]
) -> str:
    """Write a list of the ids ``locked`` and ``opened``, made from ``sources`` by the rule."""
    parts = [sorted(hashed_ids(ids)) for ids in (locked, opened)]
    lines = [
        f"# Benchmark lock {name}: messages to report on, never to choose anything on.",
        f"# Rule: version {version}, see eventide.data.lock, applied once to the union of the",
        f"# sources: {', '.join(sources)}.",
        f"# To make it again: eventide data lock {' '.join(sources)} --out {name}.txt",
        f"# {len(parts[0])} messages are locked, {len(parts[1])} are open. Each line is 12 digits",
        "# of a hash of one id: hashed_ids in eventide.data.published_lock.",
    ]
    for heading, hashes in zip(_HEADINGS, parts, strict=True):
        lines += [heading, *hashes]
    return "\n".join(lines) + "\n"


def _parsed(name: str, text: str) -> PublishedLock:
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    locked, opened = (lines.index(heading) for heading in _HEADINGS)
    hashes = frozenset(lines[locked + 1 : opened])
    return PublishedLock(name, hashes, hashes.union(lines[opened + 1 :]))
