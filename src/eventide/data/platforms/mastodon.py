"""Mastodon statuses: text in HTML, ``tags``, ``mentions`` and an ``account``."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

from eventide.data.parsing.records import Record, at, each, items, repeated


def recognises(value: Record) -> bool:
    """Tell a status by its ``content`` and ``account``."""
    return "content" in value and isinstance(value.get("account"), dict) and "id" in value


def messages(value: Record) -> Iterator[dict[str, Any]]:
    """Yield the status as a message; a boost gets the text of the original."""
    status = dict(value)
    original = status.get("reblog")
    shown = original if isinstance(original, dict) else status
    text, links = plain_text(str(shown.get("content") or ""))
    if shown.get("spoiler_text"):
        text = f"{shown['spoiler_text']}\n{text}"
    mentions = each(items(shown, "mentions"), "acct", "username")
    if shown is original:
        author = at(original, "account", "acct")
        text = repeated(author, text)
        mentions = [str(author), *mentions] if author else mentions
    card = at(shown, "card", "url")
    yield status | {
        "text": text,
        "user": at(status, "account", "acct") or at(status, "account", "username"),
        "hashtags": each(items(shown, "tags"), "name"),
        "mentions": list(dict.fromkeys(mentions)),
        "urls": list(dict.fromkeys([*links, *([str(card)] if card else [])])),
        "entities": None,
    }


def plain_text(html: str) -> tuple[str, list[str]]:
    """Convert a status's HTML to text; also return links that are not mentions or hashtags.

    >>> plain_text('<p>Hi &amp; <a href="https://x.org/a"><span>x.org/a</span></a></p><p>Bye</p>')
    ('Hi & x.org/a\\n\\nBye', ['https://x.org/a'])
    """
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return "".join(reader.pieces).strip(), reader.links


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        kinds = (given.get("class") or "").split()
        if tag == "br":
            self.pieces.append("\n")
        elif tag == "a" and given.get("href") and not {"mention", "hashtag"} & set(kinds):
            self.links.append(str(given["href"]))

    def handle_endtag(self, tag: str) -> None:
        if tag in ("p", "div", "blockquote", "li"):
            self.pieces.append("\n\n" if tag != "li" else "\n")

    def handle_data(self, data: str) -> None:
        self.pieces.append(data)
