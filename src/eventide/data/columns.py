"""Matches a source's columns to ours: by the user's mapping, then by known other names."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from eventide.data.schema import LIST_COLUMNS, SCHEMA, schema_with
from eventide.errors import BadSetting, InputError, MissingColumn
from eventide.safe_text import safe

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
"""Columns for which two candidate names are an error that asks the user to choose."""

HINTS: dict[str, tuple[str, ...]] = {
    "id": ("id", "key", "uri", "number"),
    "text": ("text", "tweet", "body", "message", "content", "post", "comment", "title"),
    "created_at": ("time", "date", "when", "created", "posted", "published", "utc"),
    "event": ("event", "label", "class", "topic", "category", "incident", "crisis", "target"),
}
"""Parts of a name by which a column is suggested in an error; it is never used without asking."""

SHOWN = 30  # most columns listed in an error


def plain_name(name: str) -> str:
    """Normalise a header: ``Tweet ID`` becomes ``tweet_id``.

    >>> plain_name(" Tweet ID")
    'tweet_id'
    """
    return "_".join(name.strip().lower().replace("-", " ").split())


@dataclass(frozen=True)
class Columns:
    """The caller's choices: a mapping of columns (ours -> theirs) and extra list columns.

    ``remembered`` is the mapping of a model's training file: used where it fits this source.
    Without ``need_lists`` the extra list columns may be missing, as in new messages for a model.
    """

    mapping: Mapping[str, str] = field(default_factory=dict)
    lists: Sequence[str] = ()
    remembered: Mapping[str, str] = field(default_factory=dict)
    need_lists: bool = True

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
        """Possible names of the column ``ours`` in the source."""
        if ours in self.mapping:
            return (self.mapping[ours],)
        if not (self.mapping or self.remembered):
            return (ours, *ALIASES.get(ours, ()))
        first = (self.remembered[ours],) if ours in self.remembered else ()
        taken = {*self.mapping.values(), *self.remembered.values()}.difference(first)
        names = dict.fromkeys((*first, ours, *ALIASES.get(ours, ())))
        return tuple(name for name in names if name not in taken)

    def wanted(self) -> list[str]:
        """All possible names of our columns in the source."""
        return list(dict.fromkeys(n for ours in self.names for n in self.candidates(ours)))

    def readable(self, found: Iterable[str]) -> list[str]:
        """List the names to read: other names only where our own is not present.

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
        """Return the source's columns for ``ours``, best first; an ambiguous choice is an error.

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
                next_step=f"say which one with --column {ours}={found[0]}"
                f" (columns={{{ours!r}: {found[0]!r}}} in Python)",
            )
        return found[:1] if ours in found else found

    def absent(self, present: Iterable[str]) -> list[str]:
        """List our columns that are mapped to a missing column."""
        there = set(present)
        return [ours for ours, theirs in self.mapping.items() if theirs not in there]

    def absent_lists(self, present: Iterable[str]) -> list[str]:
        """List the extra list columns that are missing; our own can be extracted from the text."""
        there = set(present)
        unmapped = [name for name in self.lists if name not in self.mapping]
        return [name for name in dict.fromkeys(unmapped) if name not in {*SCHEMA, *there}]

    def refused(self, present: Iterable[str]) -> list[str]:
        """List the missing columns that the caller named and that are required."""
        there = set(present)
        return self.absent(there) + (self.absent_lists(there) if self.need_lists else [])

    def guess(self, ours: str, found: Iterable[str]) -> str | None:
        """Suggest a column of the source for ``ours``; None if no name is similar.

        >>> Columns({"user": "handel"}).guess("user", ["id", "text", "handle"])
        'handle'
        """
        free = [name for name in dict.fromkeys(found) if name not in self.names]
        plain = {plain_name(name): name for name in reversed(free)}
        sought = plain_name(self.mapping.get(ours, ours))
        close = difflib.get_close_matches(sought, plain, n=1)
        hinted = (name for hint in HINTS.get(ours, ()) for name in plain if hint in name)
        name = close[0] if close else next(hinted, None)
        return plain[name] if name is not None else None

    def missing(self, lacking: Sequence[str], found: Iterable[str], where: str) -> MissingColumn:
        """Build one error for all missing columns, with a suggestion for each."""
        names = list(dict.fromkeys(found))
        told, options, mapped, views = [], [], {}, []
        for ours in lacking:
            theirs = self.mapping.get(ours)
            told.append(repr(ours) + (f" (mapped to {theirs!r})" if theirs is not None else ""))
            guess = self.guess(ours, names)
            if ours in SCHEMA:
                mapped[ours] = guess or "NAME"
                options.append(f"--column {ours}={mapped[ours]}")
            else:
                views.append(
                    f"{guess!r} instead of {ours!r}" if guess else f"another than {ours!r}"
                )
        several = len(told) > 1
        listed = ", ".join(names[:SHOWN]) or "none"
        steps = [f"map {'them' if several else 'it'} with {' '.join(options)}"] if mapped else []
        steps += [f"(in Python columns={mapped!r})"] if mapped else []
        steps += [f"name a column that is there: {', '.join(views)}"] if views else []
        what = (
            f"column{'s' if several else ''} {', '.join(told)} {'are' if several else 'is'} missing"
        )
        return MissingColumn(
            safe(f"{what}; found: {listed}"), where=where, next_step=safe(" ".join(steps))
        )
