r"""Search texts for patterns: many in polars (Rust's engine), a few with the ``regex`` package.

Rust's engine is five times as fast on a large batch, but polars prepares its patterns on every
call, which costs one message 20 ms. The two engines are the only difference between a large batch
and a small one: patterns, rules and canonical forms are the same objects. Patterns are written in
what both engines read alike: no look-around, no ``(?i)`` (the engines fold case differently), and
``\z`` for the end of a text (``\Z`` to ``regex``). A test compares the engines on all characters
but those that are left to polars.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import Any, Protocol, Self
from unicodedata import category

import polars as pl

from eventide.runtime.threads import FEW

LONGEST = 2_000
"""Characters of a text that ``regex`` may search; it can need the square of them, Rust never."""

Matches = Sequence[tuple[int, str]]
"""Pairs of a text's row and a match in it, in reading order."""

Decide = Callable[[str], list[str]]
"""Tells the canonical elements in a match."""


class Texts(Protocol):
    """Texts in one of the two engines, a row each."""

    def __len__(self) -> int: ...

    def to_list(self) -> list[str]:
        """Return the texts themselves."""

    def replaced(self, pattern: str, instead: str) -> Self:
        """Return the texts with ``instead`` for every match; ``$1`` is the first group."""

    def lower(self) -> Self:
        """Return the texts in lower case."""

    def counts(self, pattern: str) -> list[int]:
        """Return how many matches each text holds."""

    def matches(self, pattern: str, rows: list[int] | None = None) -> Matches:
        """Return every match, whole, in the texts of ``rows`` (of all where None)."""

    def rows_with(self, characters: str) -> list[int]:
        """Return the rows of texts that hold any of ``characters``."""


def searchable(texts: pl.Series) -> Texts:
    """Return the texts in the engine that suits their number; null is read as empty.

    >>> texts = searchable(pl.Series(["#one #two", "three"]))
    >>> texts.matches("#(on|tw)"), texts.replaced("t(.)", "$1").matches("^..")
    ([(0, '#on'), (0, '#tw')], [(0, '#o'), (1, 'hr')])
    """
    filled = texts.fill_null("") if texts.null_count() else texts
    if len(filled) <= FEW:
        few = filled.to_list()
        if all(len(text) <= LONGEST and _is_read_alike(text) for text in few):
            return SmallBatch(few)
    return LargeBatch(filled)


class SmallBatch:
    """A few texts, searched one by one with patterns that stay compiled."""

    def __init__(self, texts: list[str]) -> None:
        self._texts = texts

    def __len__(self) -> int:
        return len(self._texts)

    def to_list(self) -> list[str]:
        """Return the texts."""
        return self._texts

    def replaced(self, pattern: str, instead: str) -> Self:
        """Replace every match in every text."""
        replace, group = _compiled(pattern).sub, instead.replace("$", "\\")
        return type(self)([replace(group, text) for text in self._texts])

    def lower(self) -> Self:
        """Lower the case of every text."""
        return type(self)([text.lower() for text in self._texts])

    def counts(self, pattern: str) -> list[int]:
        """Count the matches in every text."""
        find = _compiled(pattern).finditer
        return [sum(1 for _ in find(text)) for text in self._texts]

    def matches(self, pattern: str, rows: list[int] | None = None) -> Matches:
        """List the matches, text by text."""
        find = _compiled(pattern).finditer
        chosen = range(len(self._texts)) if rows is None else rows
        return [(row, match[0]) for row in chosen for match in find(self._texts[row])]

    def rows_with(self, characters: str) -> list[int]:
        """Look for the characters in every text."""
        return [
            row
            for row, text in enumerate(self._texts)
            if any(character in text for character in characters)
        ]


class LargeBatch:
    """Many texts, searched by polars as a whole."""

    def __init__(self, texts: pl.Series) -> None:
        self._texts = texts

    def __len__(self) -> int:
        return len(self._texts)

    def to_list(self) -> list[str]:
        """Return the texts."""
        return self._texts.to_list()

    def replaced(self, pattern: str, instead: str) -> Self:
        """Replace every match in every text."""
        return type(self)(self._texts.str.replace_all(pattern, instead))

    def lower(self) -> Self:
        """Lower the case of every text."""
        return type(self)(self._texts.str.to_lowercase())

    def counts(self, pattern: str) -> list[int]:
        """Count the matches in every text."""
        return self._texts.str.count_matches(pattern).to_list()

    def matches(self, pattern: str, rows: list[int] | None = None) -> Matches:
        """List the matches, text by text."""
        texts = self._texts if rows is None else self._texts.gather(rows)
        found = texts.str.extract_all(pattern)
        counts = found.list.len()
        at = pl.int_range(len(texts), eager=True) if rows is None else pl.Series(rows)
        some = counts > 0
        rows_of = at.filter(some).repeat_by(counts.filter(some)).explode()
        return list(zip(rows_of.to_list(), found.filter(some).explode().to_list(), strict=True))

    def rows_with(self, characters: str) -> list[int]:
        """Look for the characters in every text."""
        found = self._texts.str.contains(characters[0], literal=True)
        for character in characters[1:]:
            found |= self._texts.str.contains(character, literal=True)
        return found.arg_true().to_list()


@cache
def _compiled(pattern: str) -> Any:
    import regex  # here: a large batch does not need it

    return regex.compile(pattern.replace(r"\z", r"\Z"), regex.VERSION1)


def _is_read_alike(text: str) -> bool:
    """Tell whether both engines know all of ``text``: their Unicode tables differ in age."""
    return text.isascii() or all(_is_known(character) for character in set(text))


@lru_cache(maxsize=10_000)
def _is_known(character: str) -> bool:
    # "ʕ" was a small letter before Unicode 16 and has no case since.
    return category(character) != "Cn" and character != "ʕ"
