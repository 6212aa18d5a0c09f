"""Twitter API v1.1: one object per tweet, with ``id_str``, ``entities`` and ``user``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from eventide.data.batch import TWEET
from eventide.data.parsing.records import Record, at, each, items, repeated


def recognises(value: Record) -> bool:
    """Tell a v1.1 tweet by its ``id_str``, a text, and a nested author or entities."""
    nested = isinstance(value.get("user"), dict) or isinstance(value.get("entities"), dict)
    return "id_str" in value and ("full_text" in value or "text" in value) and nested


def messages(value: Record) -> Iterator[dict[str, Any]]:
    """Yield the tweet as a message; a retweet carries the whole text of what it repeats."""
    tweet = dict(value)
    original = tweet.get("retweeted_status")
    shown = original if isinstance(original, dict) else tweet
    text = _text(shown)
    mentions = each(_entities(shown, "user_mentions"), "screen_name")
    if shown is original:
        author = at(original, "user", "screen_name")
        text = repeated(author, text)
        mentions = [str(author), *mentions] if author else mentions
    yield tweet | {
        "id": tweet.get("id_str") or tweet.get("id"),
        "text": text,
        "created_at": tweet.get("created_at"),
        "user": at(tweet, "user", "screen_name") or at(tweet, "user", "id_str"),
        "hashtags": each(_entities(shown, "hashtags"), "text"),
        "mentions": list(dict.fromkeys(mentions)),
        "urls": each(_entities(shown, "urls"), "expanded_url", "url"),
        "entities": None,
        TWEET: True,
    }


def _text(tweet: Record) -> Any:
    return at(tweet, "extended_tweet", "full_text") or tweet.get("full_text") or tweet.get("text")


def _entities(tweet: Record, kind: str) -> list[Any]:
    """Take the entities of the long form where the streaming API cut the tweet short."""
    if at(tweet, "extended_tweet", "entities"):
        return items(tweet, "extended_tweet", "entities", kind)
    return items(tweet, "entities", kind)
