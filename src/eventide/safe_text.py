"""Text from outside, made safe to show: no escape code, no hidden direction mark, one line."""

from __future__ import annotations

import unicodedata

HIDDEN = ("Cc", "Cf", "Co", "Cs", "Zl", "Zp")
"""Unicode categories that a terminal obeys or hides instead of showing."""

JOINERS = "\u200c\u200d"
"""Format signs that letters and emoji need; they change nothing but the shape."""


def safe(text: object, width: int | None = None) -> str:
    r"""Return ``text`` in one line that can only be read, cut to ``width`` letters.

    Blanks and line ends become single blanks; whatever a terminal would obey (escape codes, bells,
    direction marks, halves of characters) is written as an escape.

    >>> safe("fire\n in \x1b[31mcity\u202e")
    'fire in \\x1b[31mcity\\u202e'
    >>> safe("a long message", width=8)
    'a long…'
    """
    words = " ".join(str(text).split())
    if not words.isprintable():
        words = "".join(map(_shown, words))
    if width is not None and len(words) > width:
        words = words[: max(width - 1, 0)].rstrip() + "…"
    return words


def _shown(sign: str) -> str:
    if sign.isprintable() or sign in JOINERS or unicodedata.category(sign) not in HIDDEN:
        return sign
    return sign.encode("unicode_escape").decode("ascii")
