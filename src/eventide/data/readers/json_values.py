"""JSON values the careful way: numbers keep their digits, the first of two equal keys counts."""

from __future__ import annotations

import json
from typing import Any

from eventide.data.records import Rescuer


def _first_wins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Resolve repeated keys as the fast reader does."""
    plain = dict(pairs)
    return plain if len(plain) == len(pairs) else dict(reversed(pairs))


DECODER = json.JSONDecoder(
    # Ids must never pass through a float, so numbers stay the text they were.
    parse_int=str,
    parse_float=str,
    parse_constant=str,
    object_pairs_hook=_first_wins,
)


def decode_line(line: bytes, encoding: Rescuer | None = None) -> tuple[dict[str, Any] | None, str]:
    """Return a line's object, or None and the reason why it has none.

    >>> decode_line(b'{"id": 12345678901234567890}')
    ({'id': '12345678901234567890'}, '')
    >>> decode_line(b'[1]')
    (None, 'not an object but list')
    """
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        rescued = None if encoding is None else encoding.rescued(line)
        if rescued is None:
            byte = line[error.start]
            shown = f"not UTF-8: byte 0x{byte:02x}" if encoding is None else encoding.reason(byte)
            return None, shown
        text = rescued
    try:
        value = DECODER.decode(text)
    except (ValueError, RecursionError) as error:
        return None, "holds a NUL byte" if b"\x00" in line else why_not_json(error)
    if not isinstance(value, dict):
        return None, f"not an object but {type(value).__name__}"
    return value, ""


def why_not_json(error: Exception) -> str:
    """Say in a few words why text is not JSON."""
    if isinstance(error, json.JSONDecodeError):
        return f"not JSON: {error.msg} at character {error.pos + 1}"
    return "not JSON: nested too deeply" if isinstance(error, RecursionError) else "not JSON"
