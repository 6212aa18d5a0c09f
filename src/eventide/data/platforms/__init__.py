"""Recognises objects exported by social platforms and converts them to messages.

Each platform is a module with ``recognises(object)`` and ``messages(object)``. Keys that a user
added to an object (an ``event``, a ``split``) are kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from eventide.data.parsing.records import Record
from eventide.data.platforms import bluesky, mastodon, twitter

PLATFORMS = (twitter, mastodon, bluesky)


def is_platform(value: Record) -> bool:
    """Tell whether an object is an export of a known platform.

    >>> is_platform({"id": "1", "text": "hi"})
    False
    >>> is_platform({"id_str": "1", "full_text": "hi", "user": {"screen_name": "ann"}})
    True
    """
    return any(platform.recognises(value) for platform in PLATFORMS)


def plain_records(value: Record) -> Iterator[Record]:
    """Yield the messages of an object: itself, or those of a platform's export."""
    for platform in PLATFORMS:
        if platform.recognises(value):
            messages: Iterator[dict[str, Any]] = platform.messages(value)
            yield from messages
            return
    yield value
