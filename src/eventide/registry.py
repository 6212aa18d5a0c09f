"""One registry for encoders, datasets, methods and figures: a name, a summary, a lazy target.

Entries name their target as ``"module:symbol"``, so that listing them (``--help``, tables, docs)
imports nothing heavy; the module is imported when the entry is used.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from typing import Any

from eventide.errors import UnknownName


@dataclass(frozen=True)
class Entry:
    """One named thing: what it is called, what it is for, where it lives."""

    name: str
    target: str
    summary: str
    group: str = ""

    def load(self) -> Any:
        """Import and return the object behind this entry."""
        module, _, symbol = self.target.partition(":")
        return getattr(import_module(module), symbol)


class Registry:
    """An ordered collection of entries of one kind.

    >>> shapes = Registry("shape")
    >>> shapes.add("path", "pathlib:PurePosixPath", "a path")
    >>> shapes.load("path")("a") / "b"
    PurePosixPath('a/b')
    >>> shapes.load("pth")
    Traceback (most recent call last):
    eventide.errors.UnknownName: no shape is called 'pth'
      next:  did you mean 'path'? Known: path
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._entries: dict[str, Entry] = {}

    def add(self, name: str, target: str, summary: str, group: str = "") -> None:
        """Register ``target`` ("module:symbol") under ``name``; a name can be taken once.

        ``group`` sorts the entries of a registry into kinds, where it has any.
        """
        if name in self._entries:
            raise ValueError(f"the {self.kind} {name!r} is registered already")
        self._entries[name] = Entry(name, target, summary, group)

    def entry(self, name: str) -> Entry:
        """Return the entry called ``name`` or say which names exist."""
        try:
            return self._entries[name]
        except KeyError:
            close = get_close_matches(name, self._entries, n=1)
            hint = f"did you mean {close[0]!r}? " if close else ""
            known = ", ".join(self._entries)
            raise UnknownName(
                f"no {self.kind} is called {name!r}", next_step=f"{hint}Known: {known}"
            ) from None

    def load(self, name: str) -> Any:
        """Import and return the object registered under ``name``."""
        return self.entry(name).load()

    def names(self) -> list[str]:
        """All names in the order of registration."""
        return list(self._entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries.values())

    def __contains__(self, name: object) -> bool:
        return name in self._entries


def suggestion(name: object, known: Iterable[str]) -> str:
    """Say which known name may have been meant, and which there are.

    >>> suggestion("tset", ["train", "test"])
    "did you mean 'test'? Known: train, test"
    """
    names = list(known)
    close = get_close_matches(str(name), names, n=1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    return f"{hint}Known: {', '.join(names)}"
