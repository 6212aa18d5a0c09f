"""HTML that cannot be forgotten to escape: every plain string is text, and text is made safe."""

from __future__ import annotations

import json
from collections.abc import Iterable
from html import escape
from typing import Any

from eventide.safe_text import safe

LONGEST = 280
"""Letters of a message that a page shows; the rest is cut off."""

EMPTY = ("br", "col", "hr", "img", "link", "meta")
"""Elements without an end tag."""


class Html(str):
    """Markup of our own; any other string is text from somewhere and is escaped."""

    __slots__ = ()


Content = str | int | None


def element(tag: str, /, *content: Content | Iterable[Content], **attributes: Any) -> Html:
    r"""Write an element; strings become text, `Html` stays, None is nothing.

    An attribute's underscores are hyphens, one at its end is dropped (``class_``); True stands
    without a value, None and False are left out.

    >>> element("p", "1 < 2", class_="note", hidden=True)
    '<p class="note" hidden>1 &lt; 2</p>'
    >>> element("td", "<script>\u202e", element("br"))
    '<td>&lt;script&gt;\\u202e<br></td>'
    """
    written = "".join(_attribute(name, value) for name, value in attributes.items())
    if tag in EMPTY:
        return Html(f"<{tag}{written}>")
    inside = "".join(_inside(content))
    return Html(f"<{tag}{written}>{inside}</{tag}>")


def joined(*parts: Content | Iterable[Content]) -> Html:
    """Put parts one after another; strings become text."""
    return Html("".join(_inside(parts)))


def message_text(text: object, width: int = LONGEST) -> Html:
    """Show a message's text: cut, made safe, in whatever direction it is written.

    >>> message_text("<b>fire</b>")
    '<span class="text" dir="auto">&lt;b&gt;fire&lt;/b&gt;</span>'
    """
    return element("span", safe(text, width), class_="text", dir="auto")


def embedded_json(value: Any) -> str:
    r"""Write JSON that can stand inside a script element: no sign in it can end the element.

    >>> embedded_json({"text": "</script>"})
    '{"text":"\\u003c/script\\u003e"}'
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _attribute(name: str, value: Any) -> str:
    if value is None or value is False:
        return ""
    name = name.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{escape(safe(value))}"'


def _inside(content: Iterable[Any]) -> Iterable[str]:
    for each in content:
        if each is None:
            continue
        if isinstance(each, Html):
            yield each
        elif isinstance(each, (str, int, float)):
            yield escape(_spaced(each) if isinstance(each, str) else str(each))
        else:
            yield from _inside(each)


def _spaced(text: str) -> str:
    """Make text safe and keep a blank at either end: another part may stand there."""
    if not text.strip():
        return " " if text else ""
    return " " * text[0].isspace() + safe(text) + " " * text[-1].isspace()


def fact_cards(cells: Iterable[tuple[str, str, str]]) -> Html:
    """Return the cards at the head of a page: a name, its value, and what that is about."""
    return element(
        "dl",
        (
            element(
                "div",
                element("dt", name),
                element("dd", value, class_="value"),
                element("dd", about, class_="about"),
            )
            for name, value, about in cells
        ),
        class_="facts",
    )
