"""Which column of a source is which: the user's mapping first, then well-known other names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from eventide.data.schema import LIST_COLUMNS, schema_with
from eventide.errors import BadSetting, InputError, MissingColumn

ALIASES: dict[str, tuple[str, ...]] = {
    "id": ("tweet_id", "id_str", "status_id", "message_id", "post_id"),
    "text": ("full_text", "tweet_text", "message", "content"),
    "created_at": ("time", "timestamp", "datetime", "date"),
    "event": ("event_id", "label"),
    "user": ("user_name", "username", "screen_name", "author", "user_id", "author_id"),
    "hashtags": ("entities.hashtags", "tags"),
    "mentions": ("user_mentions", "entities.mentions", "entities.user_mentions"),
    "urls": ("entities.urls",),
    "entities": ("named_entities",),
    "vector": ("embedding",),
}
"""Other names under which a column is recognised, in order of preference."""

DECISIVE = ("id", "text", "created_at", "event")
"""Columns for which two candidate names are a question to the user, not a guess of ours."""


def plain_name(name: str) -> str:
    """Bring a header to the spelling of the table: ``Tweet ID`` becomes ``tweet_id``.

    >>> plain_name(" Tweet ID")
    'tweet_id'
    """
    return "_".join(name.strip().lower().replace("-", " ").split())


@dataclass(frozen=True)
class Columns:
    """What the caller said about the columns: a mapping (ours -> theirs) and extra list columns.

    ``remembered`` is a mapping of earlier files, a model's own: followed where it fits this source.
    """

    mapping: Mapping[str, str] = field(default_factory=dict)
    lists: Sequence[str] = ()
    remembered: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for ours in self.mapping:
            if ours not in self.names:
                raise BadSetting(
                    f"a message has no column {ours!r} to map",
                    next_step=f"map one of ours to yours: {', '.join(self.names)}",
                )

    @property
    def names(self) -> list[str]:
        """The columns a message will have."""
        return list(schema_with(self.lists))

    @property
    def list_names(self) -> list[str]:
        """Those of the columns that hold lists of strings."""
        return [*LIST_COLUMNS, *(name for name in self.lists if name not in LIST_COLUMNS)]

    def candidates(self, ours: str) -> tuple[str, ...]:
        """Names under which the column ``ours`` may stand in the source."""
        if ours in self.mapping:
            return (self.mapping[ours],)
        first = (self.remembered[ours],) if ours in self.remembered else ()
        taken = {*self.mapping.values(), *self.remembered.values()}.difference(first)
        names = dict.fromkeys((*first, ours, *ALIASES.get(ours, ())))
        return tuple(name for name in names if name not in taken)

    def wanted(self) -> list[str]:
        """All names worth reading from the source."""
        return list(dict.fromkeys(n for ours in self.names for n in self.candidates(ours)))

    def readable(self, found: Iterable[str]) -> list[str]:
        """List the names to read: other names only where our own has not been found.

        >>> "tweet_id" in Columns().readable(["id"]), "tweet_id" in Columns().readable(["text"])
        (False, True)
        """
        there = set(found)
        names: list[str] = []
        for ours in self.names:
            candidates = self.candidates(ours)
            names += candidates[:1] if there.issuperset(candidates[:1]) else candidates
        return list(dict.fromkeys(names))

    def find(self, ours: str, present: Iterable[str]) -> list[str]:
        """Return the source's columns for ``ours``, best first; a doubtful choice is an error.

        >>> Columns().find("id", ["tweet_id", "text"])
        ['tweet_id']
        """
        there = set(present)
        found = [name for name in self.candidates(ours) if name in there]
        if found and found[0] == self.remembered.get(ours):
            return found[:1]
        if ours in DECISIVE and len(found) > 1 and found[0] != ours:
            raise InputError(
                f"column {ours!r} could be any of {', '.join(found)}",
                next_step=f"say which one with --column {ours}={found[0]}",
            )
        return found[:1] if ours in found else found

    def missing(self, ours: str, found: Iterable[str], where: str) -> MissingColumn:
        """Build the error for a needed column that is not there."""
        said = f" (mapped to {self.mapping[ours]!r})" if ours in self.mapping else ""
        names = list(dict.fromkeys(found))
        listed = ", ".join(names[:30]) or "none"
        guess = next((n for n in names if n not in self.names), "NAME")
        return MissingColumn(
            f"column {ours!r}{said} is missing; found: {listed}",
            where=where,
            next_step=f"map it with --column {ours}={guess}",
        )
