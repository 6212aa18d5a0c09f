"""One registry for methods, encoders, losses, claims and more: a name, a summary, a lazy target.

Entries name their target as ``"module:symbol"``, so that listing them (``--help``, tables, docs)
imports nothing heavy; the module is imported when the entry is used. Another package adds its own
by entry points: a registry names the group it looks in, and looks when it is asked for a name it
does not know, or for all its names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from eventide.errors import BrokenPlugin, UnknownName, warn

PLUGIN_GROUP = "plug-in"
"""The group of every entry that another package adds."""


@dataclass(frozen=True)
class Entry:
    """One named thing: what it is called, what it is for, where it lives, who brought it."""

    name: str
    target: str
    summary: str
    group: str = ""
    package: str | None = None

    def load(self) -> Any:
        """Import and return the object behind this entry."""
        module, _, symbol = self.target.partition(":")
        if self.package is None:
            return getattr(import_module(module), symbol)
        try:
            return getattr(import_module(module), symbol)
        except Exception as error:  # whatever another package does wrong when it is imported
            raise BrokenPlugin(
                f"the plug-in {self.name!r} cannot be loaded: {type(error).__name__}: {error}",
                where=f"package {self.package}, {self.target}",
                next_step=f"mend, update or remove the package {self.package}",
            ) from error


class Registry:
    """An ordered collection of entries of one kind; ``plugins`` is its group of entry points.

    >>> shapes = Registry("shape")
    >>> shapes.add("path", "pathlib:PurePosixPath", "a path")
    >>> shapes.load("path")("a") / "b"
    PurePosixPath('a/b')
    >>> shapes.load("pth")
    Traceback (most recent call last):
    eventide.errors.UnknownName: no shape is called 'pth'
      next:  did you mean 'path'? Known: path
    """

    def __init__(self, kind: str, plugins: str | None = None) -> None:
        self.kind = kind
        self.plugins = plugins
        self._entries: dict[str, Entry] = {}
        self._found: dict[str, Entry] | None = None
        self._refused: set[str] = set()

    def add(self, name: str, target: str, summary: str, group: str = "") -> None:
        """Register ``target`` ("module:symbol") under ``name``; a name can be taken once.

        ``group`` sorts the entries of a registry into kinds, where it has any.
        """
        if name in self._entries:
            raise ValueError(f"the {self.kind} {name!r} is registered already")
        self._entries[name] = Entry(name, target, summary, group)

    def entry(self, name: str) -> Entry:
        """Return the entry called ``name`` or say which names exist."""
        found = self._entries.get(name) or self._look(again=True).get(name)
        if found is None:
            raise UnknownName(
                f"no {self.kind} is called {name!r}", next_step=suggestion(name, self.names())
            )
        return found

    def load(self, name: str) -> Any:
        """Import and return the object registered under ``name``."""
        return self.entry(name).load()

    def checked(self, name: str) -> str:
        """Return ``name`` if it is registered; raise `ValueError`, as validators of settings do.

        >>> Registry("shape").checked("cube")
        Traceback (most recent call last):
        ValueError: no shape is called 'cube'. Known:
        """
        try:
            return self.entry(name).name
        except UnknownName as error:
            raise ValueError(f"{error.what}. {error.next_step}".strip()) from None

    def names(self) -> list[str]:
        """All names in the order of registration, plug-ins last."""
        return [entry.name for entry in self]

    def working(self) -> dict[str, Any]:
        """Load all entries by their names; a plug-in that cannot be loaded is told and left out."""
        loaded = {}
        for entry in self:
            try:
                loaded[entry.name] = entry.load()
            except BrokenPlugin as error:
                warn(str(error))
        return loaded

    def __iter__(self) -> Iterator[Entry]:
        return iter([*self._entries.values(), *self._look().values()])

    def __contains__(self, name: object) -> bool:
        return name in self._entries or name in self._look()

    def _look(self, *, again: bool = False) -> dict[str, Entry]:
        """Find the plug-ins; one that cannot be taken is reported once and left out."""
        found = None if again else self._found
        if found is None:
            found = {}
            for point in entry_points(group=self.plugins) if self.plugins else ():
                reason = self._unusable(point, found)
                if reason is None:
                    found[point.name] = _plugin(point)
                elif reason not in self._refused:
                    self._refused.add(reason)
                    warn(reason)
            self._found = found
        return found

    def _unusable(self, point: EntryPoint, found: dict[str, Entry]) -> str | None:
        if point.name in self._entries:
            taken = f"that name is taken by a {self.kind} of eventide"
        elif point.name in found and found[point.name].package != _package(point):
            taken = f"that name is taken by the package {found[point.name].package}"
        elif not all(part.strip() for part in point.value.partition(":")):
            taken = f"{point.value!r} does not say module:symbol"
        else:
            return None
        return f"the plug-in {point.name!r} of the package {_package(point)} is left out: {taken}"


def suggestion(name: object, known: Iterable[str]) -> str:
    """Say which known name may have been meant, and which there are.

    >>> suggestion("tset", ["train", "test"])
    "did you mean 'test'? Known: train, test"
    """
    names = list(known)
    close = get_close_matches(str(name), names, n=1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    return f"{hint}Known: {', '.join(names)}"


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else "unknown"


def _plugin(point: EntryPoint) -> Entry:
    told = f"from the package {_package(point)}"
    if point.dist is not None and "Summary" in point.dist.metadata:
        told = point.dist.metadata["Summary"]
    target = point.value.partition("[")[0].strip()  # extras stand in brackets
    return Entry(point.name, target, told, PLUGIN_GROUP, _package(point))
