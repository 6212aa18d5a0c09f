"""Decodes single JSON lines, and screens a chunk for lines that are certainly valid."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from eventide.data.parsing.records import FallbackDecoder
from eventide.data.readers.pieces import line_ends


def _first_wins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Resolve repeated keys as polars does: the first wins."""
    plain = dict(pairs)
    return plain if len(plain) == len(pairs) else dict(reversed(pairs))


DECODER = json.JSONDecoder(
    # Ids must never become floats, so numbers stay text.
    parse_int=str,
    parse_float=str,
    parse_constant=str,
    object_pairs_hook=_first_wins,
)


def decode_line(
    line: bytes, encoding: FallbackDecoder | None = None
) -> tuple[dict[str, Any] | None, str]:
    """Return the object of a line, or None and the reason.

    >>> decode_line(b'{"id": 12345678901234567890}')
    ({'id': '12345678901234567890'}, '')
    >>> decode_line(b'[1]')
    (None, 'not an object but list')
    """
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        decoded = None if encoding is None else encoding.decoded(line)
        if decoded is None:
            byte = line[error.start]
            shown = f"not UTF-8: byte 0x{byte:02x}" if encoding is None else encoding.reason(byte)
            return None, shown
        text = decoded
    try:
        value = DECODER.decode(text)
    except (ValueError, RecursionError) as error:
        return None, "holds a NUL byte" if b"\x00" in line else why_not_json(error)
    if not isinstance(value, dict):
        return None, f"not an object but {type(value).__name__}"
    return value, ""


def why_not_json(error: Exception) -> str:
    """Describe why text is not JSON."""
    if isinstance(error, json.JSONDecodeError):
        return f"not JSON: {error.msg} at character {error.pos + 1}"
    return "not JSON: nested too deeply" if isinstance(error, RecursionError) else "not JSON"


Line = tuple[int, bytes]
FAILURES = (pl.exceptions.PolarsError, pl.exceptions.PanicException)
USUAL_KEY = re.compile(r"[\w.:@/ -]{1,60}", re.ASCII)
NO_LINE_HOLDS = "\x01"  # a separator that valid JSON never contains

_BLANK = r"[ \t\r]*"
# U+FFFD stands where the bytes were not UTF-8.
# NUL and lone surrogates are left out, because polars changes them.
_HEX = "[0-9a-fA-F]"
_UNICODE = (
    rf"u(?:[1-9a-cA-CefEF]{_HEX}{{3}}|0(?:[1-9a-fA-F]{_HEX}{{2}}|0(?:[1-9a-fA-F]{_HEX}|0[1-9a-fA-F]))"
    rf"|[dD](?:[0-7]{_HEX}{{2}}|[89abAB]{_HEX}{{2}}\\u[dD][c-fC-F]{_HEX}{{2}}))"
)
_STRING = rf'"(?:[^"\\\x00-\x1f\x{{FFFD}}]|\\(?:["\\/bfnrt]|{_UNICODE}))*"'
_NUMBER = r"-?(?:0|[1-9][0-9]{0,17})(?:\.[0-9]{1,17})?(?:[eE][+-]?[0-9]{1,2})?"
_SIMPLE = rf"(?:{_STRING}|{_NUMBER}|true|false|null)"


def _several(opened: str, item: str, closed: str) -> str:
    items = rf"(?:{item}{_BLANK}(?:,{_BLANK}{item}{_BLANK})*)?"
    return rf"{opened}{_BLANK}{items}{closed}"


def _object(value: str, key: str = _STRING) -> str:
    return _several(r"\{", rf"{key}{_BLANK}:{_BLANK}{value}", r"\}")


def _nested(value: str) -> str:
    several = _several(r"\[", value, r"\]")
    return rf"(?:{_SIMPLE}|{several}|{_object(value)})"


def plain_object(keys: Iterable[str]) -> str:
    """Return the pattern of objects with only these keys and at most two levels of nesting."""
    usual = [key for key in keys if USUAL_KEY.fullmatch(key)][:200]
    names = "|".join(re.escape(f'"{key}"') for key in usual)
    return rf"^{_BLANK}{_object(_nested(_nested(_SIMPLE)), f'(?:{names})')}{_BLANK}$"


@dataclass(frozen=True)
class Screened:
    """A screened chunk: content that is certainly valid, with its rows, and doubtful lines."""

    content: bytes
    rows: np.ndarray[tuple[int], np.dtype[np.int64]]
    doubtful: list[Line]


def screened(
    piece: bytes, start: int, keys: Iterable[str], suspect: re.Pattern[bytes] | None = None
) -> Screened:
    r"""Separate the lines of a chunk; valid ones have no other keys than ``keys``.

    Blank lines are left out; lines that match ``suspect`` are doubtful.

    >>> parts = screened(b'{"id": 1}\n\n{"id": oops}\n{"id": 4}', 1, ["id"])
    >>> parts.content, parts.rows.tolist(), parts.doubtful
    (b'{"id": 1}\n{"id": 4}', [1, 4], [(3, b'{"id": oops}')])
    """
    ends = line_ends(piece)
    sound = _plain(piece, len(ends), plain_object(keys))
    if suspect is not None:
        hits = [match.start() for match in suspect.finditer(piece)]
        sound[np.searchsorted(ends, hits)] = False
    whole = memoryview(piece)  # slices of it are not copies
    kept: list[memoryview] = []
    doubtful: list[Line] = []
    done = 0
    for at in np.flatnonzero(~sound).tolist():
        first, last = int(ends[at - 1]) + 1 if at else 0, int(ends[at])
        kept.append(whole[done:first])
        done = last + 1
        line = piece[first:last]
        if line.strip():
            doubtful.append((start + at, line))
    kept.append(whole[done:])
    return Screened(b"".join(kept), start + np.flatnonzero(sound), doubtful)


def _plain(piece: bytes, count: int, pattern: str) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Mark the lines that match; none if polars cannot split the chunk into lines."""
    try:
        lines = pl.read_csv(
            piece,
            has_header=False,
            separator=NO_LINE_HOLDS,
            quote_char=None,
            encoding="utf8-lossy",
            schema={"line": pl.String()},
        ).to_series()
        plain = lines.str.contains(pattern).fill_null(False).to_numpy().copy()
    except FAILURES:
        return np.zeros(count, bool)
    return plain if len(plain) == count else np.zeros(count, bool)
