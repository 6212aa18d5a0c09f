"""The same regular expressions for one text at a time: Rust's patterns as Python's.

Polars compiles its patterns on every call, which a large batch does not notice and one message
does. Both engines take the first alternative that matches, so a pattern means the same in both
once what they disagree on is spelled out: classes of characters, word boundaries, the end of text.
Which characters belong to a class is asked of polars itself, once, so the two cannot drift apart.

Most texts are written in Western letters, with emoji. They get patterns of their own whose classes
name nothing else: those compile in no time and match faster.
"""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import numpy.typing as npt
import polars as pl

Characters = npt.NDArray[np.bool_]
Folds = dict[str, str]

_NARROW = ((0, 0xFF), (0x2000, 0x206F), (0x2600, 0x27BF), (0xFE00, 0xFE0F), (0x1F300, 0x1FAFF))
"""Western letters, punctuation, symbols, variation selectors and emoji."""
_WIDE = ((0, 0xD7FF), (0xE000, 0x10FFFF))
"""All that a text of polars may hold; halves of characters are not in it."""
_IS_NARROW = re.compile(
    "[" + "".join(f"\\U{low:08x}-\\U{high:08x}" for low, high in _NARROW) + "]*"
)

_TOKEN = re.compile(
    r"(?P<named>\\p\{\w+\}|\\[sdw])|\\x\{(?P<code>[0-9A-F]+)\}|(?P<bound>\\b)|(?P<end>\$)"
    r"|\\(?P<escaped>.)|(?P<open>\[)|(?P<plain>.)",
    re.DOTALL,
)


def fitting(pattern: str, text: str) -> re.Pattern[str]:
    r"""Translate a Rust pattern for use on ``text``; ``(?i)`` may only stand at its start.

    >>> text = "Boston Ωmega"
    >>> fitting(r"[\p{L}--\p{Greek}]+", text).findall(text), fitting(r"\p{Lu}$", text).search(text)
    (['Boston', 'mega'], None)
    """
    return _compiled(pattern, _IS_NARROW.fullmatch(text) is not None)


@cache
def _compiled(pattern: str, narrow: bool) -> re.Pattern[str]:
    # Python's own flag would not do: to it "İ" is an "i".
    folds = _folds(narrow) if pattern.startswith("(?i)") else {}
    return re.compile(_translated(pattern.removeprefix("(?i)"), narrow, folds))


def _translated(pattern: str, narrow: bool, folds: Folds) -> str:
    found: list[str] = []
    at = 0
    while at < len(pattern):
        token = _token(pattern, at)
        at = token.end()
        if token["open"]:
            inside, at = _class(pattern, at, narrow, folds)
            found.append(inside)
        elif token["named"]:
            found.append(_written(_named(token["named"], narrow)))
        elif token["bound"]:
            word = _written(_named(r"\w", narrow))
            found.append(f"(?:(?<!{word})(?={word})|(?<={word})(?!{word}))")
        elif token["end"]:
            found.append(r"\Z")
        elif token["code"]:
            found.append(re.escape(chr(int(token["code"], 16))))
        else:
            found.append(f"[{folds[token[0]]}]" if token[0] in folds else token[0])
    return "".join(found)


def _class(pattern: str, at: int, narrow: bool, folds: Folds) -> tuple[str, int]:
    """Translate a class in square brackets that opens before ``at``, and say where it ends."""
    negated = pattern[at] == "^"
    at += negated
    alphabet = _alphabet(narrow)
    members, removed = np.zeros_like(alphabet), np.zeros_like(alphabet)
    target = members
    while pattern[at] != "]":
        if pattern.startswith("--", at):
            target, at = removed, at + 2
            continue
        token = _token(pattern, at)
        at = token.end()
        if token["named"]:
            target |= _named(token["named"], narrow)
            continue
        low = high = _code(token)
        if pattern[at] == "-" and pattern[at + 1] not in "-]":
            token = _token(pattern, at + 1)
            high, at = _code(token), token.end()
        target[low : high + 1] = True
    for letter, same in folds.items():
        if members[ord(letter)]:
            members[[ord(each) for each in same]] = True
    return _written(members & ~removed & alphabet, negated), at + 1


def _token(pattern: str, at: int) -> re.Match[str]:
    token = _TOKEN.match(pattern, at)
    assert token is not None  # any character is a token
    return token


def _code(token: re.Match[str]) -> int:
    """The code of the one character that a token in a class stands for."""
    if token["code"]:
        return int(token["code"], 16)
    letter = token["escaped"]
    if letter is None:
        return ord(token[0])
    return ord({"n": "\n", "t": "\t", "r": "\r"}.get(letter, letter))


def _written(members: Characters, negated: bool = False) -> str:
    edges = np.flatnonzero(np.diff(members, prepend=False, append=False)).tolist()
    if not edges:
        return "(?s:.)" if negated else "(?!)"
    ranges = "".join(
        f"{_character(low)}-{_character(after - 1)}" if after - low > 1 else _character(low)
        for low, after in zip(edges[::2], edges[1::2], strict=True)
    )
    return f"[{'^' if negated else ''}{ranges}]"


def _character(code: int) -> str:
    return chr(code) if code > 0x7F else f"\\x{code:02x}"


@cache
def _named(name: str, narrow: bool) -> Characters:
    r"""Ask polars which characters belong to a class such as ``\p{Lu}``."""
    alphabet = _alphabet(narrow)
    codes = np.flatnonzero(alphabet).astype("<u4")
    text = pl.Series([codes.tobytes().decode("utf-32-le")])
    found = "".join(text.str.extract_all(f"{name}+").explode().drop_nulls())
    members = np.zeros_like(alphabet)
    members[np.frombuffer(found.encode("utf-32-le"), dtype="<u4")] = True
    return members


@cache
def _folds(narrow: bool) -> Folds:
    """Ask polars what counts as each of the letters a to z where case does not matter."""
    codes = np.flatnonzero(_named("(?i)[a-z]", narrow))
    found: Folds = {}
    for character in map(chr, codes.tolist()):
        letter = character.casefold()
        found[letter] = found.get(letter, "") + character
    return found | {letter.upper(): same for letter, same in found.items()}


@cache
def _alphabet(narrow: bool) -> Characters:
    ranges = _NARROW if narrow else _WIDE
    members = np.zeros(ranges[-1][1] + 1, dtype=np.bool_)
    for low, high in ranges:
        members[low : high + 1] = True
    return members
