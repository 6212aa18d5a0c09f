"""Twitter/X API v2: pages with ``data`` and ``includes``, or tweets already flattened."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from eventide.data.batch import TWEET
from eventide.data.parsing.records import Record, at, each, items, repeated

MARKS = ("edit_history_tweet_ids", "public_metrics", "referenced_tweets", "note_tweet")


def recognises(value: Record) -> bool:
    """Tell a page by its ``data``, an empty page by its ``meta``, a tweet by v2's own fields."""
    data = value.get("data")
    if isinstance(data, dict):
        return "id" in data and "text" in data
    if isinstance(data, list):
        return all(isinstance(t, dict) and "id" in t and "text" in t for t in data)
    if "result_count" in (at(value, "meta") or {}) and "text" not in value:
        return True
    nested = isinstance(value.get("author"), dict) or isinstance(value.get("entities"), dict)
    marked = any(mark in value for mark in MARKS) or ("author_id" in value and nested)
    return "id" in value and "text" in value and "id_str" not in value and marked


def messages(value: Record) -> Iterator[dict[str, Any]]:
    """Yield the tweets of a page, authors and repeated tweets looked up in its ``includes``."""
    users = {str(at(user, "id")): user for user in items(value, "includes", "users")}
    tweets = {str(at(tweet, "id")): tweet for tweet in items(value, "includes", "tweets")}
    data = value.get("data")
    if isinstance(data, dict):
        data = [data]
    elif not isinstance(data, list):
        data = [] if "text" not in value else [value]
    for tweet in data:
        yield _message(dict(tweet), users, tweets)


def _message(
    tweet: dict[str, Any], users: dict[Any, Any], tweets: dict[Any, Any]
) -> dict[str, Any]:
    shown = tweet
    for reference in items(tweet, "referenced_tweets"):
        if at(reference, "type") == "retweeted":
            # A flattened tweet carries what it repeats inside the reference itself.
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
