"""Exports of social platforms, recognised as they come and turned into plain messages.

Each platform is a module with ``recognises(object)`` and ``messages(object)``; what a user added
to an object (an ``event``, a ``split``) stays beside what the platform says.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from eventide.data.parsing.records import Record
from eventide.data.platforms import bluesky, mastodon, twitter

PLATFORMS = (twitter, mastodon, bluesky)


def is_platform(value: Record) -> bool:
    """Tell whether an object is a platform's own.

    >>> is_platform({"id": "1", "text": "hi"})
    False
    >>> is_platform({"id_str": "1", "full_text": "hi", "user": {"screen_name": "ann"}})
    True
    """
    return any(platform.recognises(value) for platform in PLATFORMS)


def plain_records(value: Record) -> Iterator[Record]:
    """Yield the messages an object holds: itself, or what its platform wraps in it."""
    for platform in PLATFORMS:
        if platform.recognises(value):
            messages: Iterator[dict[str, Any]] = platform.messages(value)
            yield from messages
            return
    yield value
