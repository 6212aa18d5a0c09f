"""Which characters Python and Rust (polars) know alike: their Unicode tables differ in age."""

from __future__ import annotations

from functools import lru_cache
from unicodedata import category


def known_to_both(text: str) -> bool:
    r"""Tell whether Python's Unicode tables, which may be the older ones, know all of ``text``.

    >>> known_to_both("Zürich"), known_to_both("\U0003fffd")
    (True, False)
    """
    return text.isascii() or all(_assigned(character) for character in set(text))


@lru_cache(maxsize=10_000)
def _assigned(character: str) -> bool:
    return category(character) != "Cn"


def has_letter_or_digit(text: str) -> bool:
    r"""Tell whether ``text`` holds a letter or digit of any script, as Rust's [\p{L}\p{N}] does.

    >>> has_letter_or_digit("!? ५"), has_letter_or_digit("😀 ...")
    (True, False)
    """
    return any(category(character)[0] in "LN" for character in text)
