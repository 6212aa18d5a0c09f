"""Bluesky posts: records, post views, feed views and Jetstream commits, with their facets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from eventide.data.parsing.records import Record, at, each, items

POST = "app.bsky.feed.post"


def recognises(value: Record) -> bool:
    """Tell a post, in any of its wrappings, by the type of its record."""
    return bool(_wrapped(value)) or any(_wrapped(item) for item in _page(value)[:1])


def messages(value: Record) -> Iterator[dict[str, Any]]:
    """Yield the posts: one, or all those of a page."""
    for item in [value] if _wrapped(value) else _page(value):
        yield _message(dict(item)) if isinstance(item, dict) else {"id": None, "text": str(item)}


def _page(value: Record) -> list[Any]:
    return items(value, "feed") or items(value, "posts") or items(value, "records")


def _wrapped(value: Any) -> dict[str, Any] | None:
    """Find the record of a post: itself, in a view, in a feed item, in a commit, in a listing."""
    for inner in (
        value,
        at(value, "record"),
        at(value, "value"),
        at(value, "post", "record"),
        at(value, "commit", "record"),
    ):
        if isinstance(inner, dict) and inner.get("$type") == POST:
            return inner
    return None


def _message(item: dict[str, Any]) -> dict[str, Any]:
    record = _wrapped(item) or {}
    view = item["post"] if isinstance(item.get("post"), dict) else item
    facets = [_facet(facet, str(record.get("text") or "")) for facet in items(record, "facets")]
    found = [feature for facet in facets for feature in facet]
    tags = [name for kind, name in found if kind == "tag"]
    extra = [str(tag) for tag in items(record, "tags")]
    links = [name for kind, name in found if kind == "link"]
    card = each([at(record, "embed", "external")], "uri")
    given = "facets" in record
    return item | {
        "id": _id(item, view),
        "text": record.get("text"),
        "created_at": record.get("createdAt") or view.get("indexedAt"),
        "user": at(view, "author", "handle") or at(view, "author", "did") or item.get("did"),
        "hashtags": list(dict.fromkeys([*tags, *extra])) if given or extra else None,
        "mentions": [name for kind, name in found if kind == "mention"] if given else None,
        "urls": list(dict.fromkeys([*links, *card])) if given or card else None,
        "entities": None,
    }


def _id(item: dict[str, Any], view: dict[str, Any]) -> Any:
    """Take the post's address, build it from a commit, or take another id."""
    if view.get("uri"):
        return view["uri"]
    key = at(item, "commit", "rkey")
    if key and item.get("did"):
        return f"at://{item['did']}/{POST}/{key}"
    return view.get("cid") or at(item, "commit", "cid") or item.get("id")


def _facet(facet: Any, text: str) -> list[tuple[str, str]]:
    """Read a facet's features; its range counts bytes of UTF-8, not characters."""
    found = []
    for feature in items(facet, "features"):
        kind = str(at(feature, "$type")).rpartition("#")[2]
        name = at(feature, {"tag": "tag", "mention": "did", "link": "uri"}.get(kind, ""))
        if kind == "mention":
            name = _handle(facet, text) or name
        if name:
            found.append((kind, str(name)))
    return found


def _handle(facet: Any, text: str) -> str | None:
    """Read the handle of a mention from the text; the facet itself holds only a DID."""
    start, end = at(facet, "index", "byteStart"), at(facet, "index", "byteEnd")
    try:
        shown = text.encode("utf-8", "surrogatepass")[int(start) : int(end)].decode()
    except (TypeError, ValueError):
        return None
    return shown[1:] if shown.startswith("@") and len(shown) > 1 else None
