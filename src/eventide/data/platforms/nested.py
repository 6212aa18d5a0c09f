"""Looking into objects of which nothing is sure: every step may be absent or of another type."""

from __future__ import annotations

from typing import Any


def at(value: Any, *path: str) -> Any:
    """Follow keys inwards; None as soon as one is not there.

    >>> at({"user": {"name": "ann"}}, "user", "name"), at({"user": 3}, "user", "name")
    ('ann', None)
    """
    for key in path:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value


def items(value: Any, *path: str) -> list[Any]:
    """Follow keys to a list; an empty one if there is none.

    >>> items({"tags": [1]}, "tags"), items({}, "tags")
    ([1], [])
    """
    found = at(value, *path)
    return found if isinstance(found, list) else []


def each(values: list[Any], *keys: str) -> list[str]:
    """Take from each object the first of the keys that holds text.

    >>> each([{"url": "a", "expanded": "b"}, {"url": "c"}, 7], "expanded", "url")
    ['b', 'c']
    """
    found = (next((at(v, k) for k in keys if at(v, k)), None) for v in values)
    return [str(text) for text in found if text is not None]


def repeated(author: Any, text: Any) -> str:
    """Write a repeated message in the old, readable way: ``RT @ann: text``."""
    return f"RT @{author}: {text or ''}" if author else f"RT {text or ''}"
