"""Twitter's own exports: API v1.1 objects, and pages or tweets of the Twitter/X API v2.

A v1.1 tweet is one object with ``id_str``, ``entities`` and ``user``. API v2 gives pages with
``data`` and ``includes``, or tweets that a client has flattened.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from eventide.data.batch import TWEET
from eventide.data.parsing.records import Record, at, each, items, repeated

V2_FIELDS = ("edit_history_tweet_ids", "public_metrics", "referenced_tweets", "note_tweet")


def recognises(value: Record) -> bool:
    """Tell a tweet of API v1.1, or a page or tweet of API v2."""
    return _is_v1(value) or _is_v2(value)


def messages(value: Record) -> Iterator[dict[str, Any]]:
    """Yield one message per tweet."""
    if _is_v1(value):
        yield _v1_message(value)
    else:
        yield from _v2_messages(value)


def _is_v1(value: Record) -> bool:
    """Tell a v1.1 tweet by its ``id_str``, a text, and a nested author or entities."""
    nested = isinstance(value.get("user"), dict) or isinstance(value.get("entities"), dict)
    return "id_str" in value and ("full_text" in value or "text" in value) and nested


def _v1_message(value: Record) -> dict[str, Any]:
    """Build the message of a tweet; a retweet carries the full text of the original."""
    tweet = dict(value)
    original = tweet.get("retweeted_status")
    shown = original if isinstance(original, dict) else tweet
    text = _text(shown)
    mentions = each(_entities(shown, "user_mentions"), "screen_name")
    if shown is original:
        author = at(original, "user", "screen_name")
        text = repeated(author, text)
        mentions = [str(author), *mentions] if author else mentions
    return tweet | {
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
    """Take the entities of the extended tweet if the streaming API truncated the tweet."""
    if at(tweet, "extended_tweet", "entities"):
        return items(tweet, "extended_tweet", "entities", kind)
    return items(tweet, "entities", kind)


def _is_v2(value: Record) -> bool:
    """Tell a page by its ``data``, an empty page by its ``meta``, a tweet by v2's own fields."""
    data = value.get("data")
    if isinstance(data, dict):
        return "id" in data and "text" in data
    if isinstance(data, list):
        return all(isinstance(t, dict) and "id" in t and "text" in t for t in data)
    if "result_count" in (at(value, "meta") or {}) and "text" not in value:
        return True
    nested = isinstance(value.get("author"), dict) or isinstance(value.get("entities"), dict)
    marked = any(name in value for name in V2_FIELDS) or ("author_id" in value and nested)
    return "id" in value and "text" in value and "id_str" not in value and marked


def _v2_messages(value: Record) -> Iterator[dict[str, Any]]:
    """Yield the tweets of a page; authors and originals are looked up in its ``includes``."""
    users = {str(at(user, "id")): user for user in items(value, "includes", "users")}
    tweets = {str(at(tweet, "id")): tweet for tweet in items(value, "includes", "tweets")}
    data = value.get("data")
    if isinstance(data, dict):
        data = [data]
    elif not isinstance(data, list):
        data = [] if "text" not in value else [value]
    for tweet in data:
        yield _v2_message(dict(tweet), users, tweets)


def _v2_message(
    tweet: dict[str, Any], users: dict[Any, Any], tweets: dict[Any, Any]
) -> dict[str, Any]:
    shown = tweet
    for reference in items(tweet, "referenced_tweets"):
        if at(reference, "type") == "retweeted":
            # A flattened retweet holds the original inside the reference.
            whole = tweets.get(str(at(reference, "id"))) or (
                reference if at(reference, "text") else None
            )
            shown = whole or tweet
    text = at(shown, "note_tweet", "text") or shown.get("text")
    given = at(shown, "note_tweet", "entities") or shown.get("entities")
    mentions = each(items(given, "mentions"), "username", "tag")
    if shown is not tweet:
        author = _author(shown, users)
        text = repeated(author, text)
        mentions = [author, *mentions] if author else mentions
    known = isinstance(given, dict)
    return tweet | {
        "user": _author(tweet, users),
        "text": text,
        "hashtags": each(items(given, "hashtags"), "tag") if known else None,
        "mentions": list(dict.fromkeys(mentions)) if known else None,
        "urls": each(items(given, "urls"), "unwound_url", "expanded_url", "url") if known else None,
        "entities": None,
        TWEET: True,
    }


def _author(tweet: Record, users: dict[Any, Any]) -> str | None:
    name = (
        at(users.get(str(tweet.get("author_id"))), "username")
        or at(tweet, "author", "username")
        or tweet.get("author_id")
    )
    return None if name is None else str(name)
