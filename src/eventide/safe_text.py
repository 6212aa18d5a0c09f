"""Text from outside, made safe to show: no escape code, no hidden direction mark, one line."""

from __future__ import annotations

JOINERS = "\u200c\u200d"
"""Signs that shape letters and emoji: Persian, Hindi and a family of emoji need them."""

INVISIBLE = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"
"""Letters and marks that count as printable and show nothing: two names would look the same."""

_INVISIBLE = frozenset(INVISIBLE)


def safe(text: object, width: int | None = None) -> str:
    r"""Return ``text`` in one line that can only be read, cut to ``width`` letters.

    Blanks and line ends become single blanks; whatever a terminal would obey or hide (escape codes,
    bells, direction marks, zero-width signs, halves of characters) is written as an escape.

    >>> safe("fire\n in \x1b[31mcity\u202e")
    'fire in \\x1b[31mcity\\u202e'
    >>> safe("a long message", width=8)
    'a long…'
    """
    words = escaped(" ".join(str(text).split()))
    if width is not None and len(words) > width:
        words = words[: max(width - 1, 0)].rstrip() + "…" * (width > 0)
    return words


def safe_lines(text: object) -> str:
    r"""Make each line of a text of our own safe, and keep its lines and indents.

    >>> safe_lines("cannot read it\n  where: a\x1b[2Jb.csv")
    'cannot read it\n  where: a\\x1b[2Jb.csv'
    """
    return "\n".join(map(escaped, str(text).split("\n")))


def escaped(text: str) -> str:
    r"""Write every sign that is not a blank and cannot be seen as an escape.

    >>> escaped("a\tb  c\n")
    'a\\tb  c\\n'
    """
    if text.isprintable() and _INVISIBLE.isdisjoint(text):
        return text
    return "".join(_shown(text, at) for at in range(len(text)))


def _shown(words: str, at: int) -> str:
    sign = words[at]
    if sign in JOINERS:
        # Between letters that it shapes it stays; in Latin script it only hides something.
        around = words[at - 1] + words[at + 1] if 0 < at < len(words) - 1 else ""
        return sign if around.isprintable() and not around.isascii() else _escaped(sign)
    return sign if sign.isprintable() and sign not in _INVISIBLE else _escaped(sign)


def _escaped(sign: str) -> str:
    return sign.encode("unicode_escape").decode("ascii")
