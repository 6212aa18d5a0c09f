"""Hashtags, mentions and urls of one text: what ``tags`` and ``urls`` do, without their columns.

The patterns are theirs; what is written twice is only the order in which they are used, and a
property test holds the two ways together.
"""

from __future__ import annotations

from unicodedata import normalize

from eventide.features.elements import tags, urls
from eventide.features.elements.rust_patterns import fitting

SPACE = tags.BEFORE.lstrip("#@")


def found_in(text: str, pattern: str) -> list[str]:
    """All matches of ``pattern``, whole.

    >>> found_in("#one #two", "#(on|tw)")
    ['#on', '#tw']
    """
    return [match[0] for match in fitting(pattern, text).finditer(text)]


def replaced(text: str, pattern: str, instead: str, count: int = 0) -> str:
    """``text`` with ``instead`` for each match, or for the first ``count``.

    >>> replaced("St. Paul", r"(St)\\.", "$1")
    'St Paul'
    """
    return fitting(pattern, text).sub(instead.replace("$", "\\"), text, count)


def holds(text: str, pattern: str) -> bool:
    """Tell whether ``pattern`` matches anywhere in ``text``."""
    return fitting(pattern, text).search(text) is not None


def hashtags_in(text: str) -> list[str]:
    """The hashtags in ``text`` (urls removed), not yet canonical; as ``tags.find_hashtags``."""
    found, free = _signed(text, tags.HASH)
    return found if free else [tag for chain in found for tag in found_in(chain, tags.BARE_TAG)]


def mentions_in(text: str) -> list[str]:
    """The mentions in ``text`` (urls removed), not yet canonical; as ``tags.find_mentions``."""
    found, free = _signed(text, tags.AT)
    return found if free else [replaced(name, tags.BEFORE_AT, "", 1) for name in found]


def _signed(text: str, sign: tags.Sign) -> tuple[list[str], bool]:
    """What the signs in ``text`` begin, and whether each of them stands free."""
    if sign.wide in text or sign.plain * 2 in text or holds(text, sign.glued):
        return found_in(text, sign.careful), False
    return (found_in(text, sign.free) if sign.plain in text else []), True


def canonical_tag(value: str) -> str | None:
    """As ``tags.canonical_tags``, for one value.

    >>> canonical_tag("＃ＢＯＳＴＯＮ"), canonical_tag("#")
    ('boston', None)
    """
    folded = value.lower()
    if not value.isascii():
        folded = normalize("NFKC", normalize("NFKC", value).lower()).lower().replace("ς", "σ")
    return folded.lstrip(tags.BEFORE).strip(SPACE) or None


def found_hashtag(value: str) -> str | None:
    """As ``tags.found_hashtags``, for one value."""
    return canonical_tag(value) if holds(value, tags.LETTER) else None


def canonical_url(value: str) -> str | None:
    """As ``urls.canonical_urls``, for one value.

    >>> canonical_url("http://www.BBC.co.uk/News/?utm_source=x&id=3#top")
    'bbc.co.uk/News/?id=3'
    """
    if holds(value, urls.PLAIN) and "//www" not in value:
        return value.removeprefix("http://").removeprefix("https://")
    bare = replaced(_without_trailing(value.strip(SPACE)), urls.PREFIX, "", 1)
    host = found_in(bare, urls.HOST)[0]
    rest = bare[len(host) :]
    name = host.lower()
    name = replaced(name if name.isascii() else urls.ascii_host(name), urls.HOST_END, "", 1)
    rest = replaced(rest, urls.FRAGMENT, "", 1).replace("&amp;", "&")
    rest = replaced(replaced(rest, urls.FIRST_TRACKING, "?", 1), urls.NEXT_TRACKING, "")
    page = _without_trailing(name + rest)
    return None if holds(value, urls.CUT_OFF) or holds(page, urls.SHORTENERS) else page


def found_url(value: str) -> str | None:
    """As ``urls.found_urls``, for one value."""
    page = canonical_url(value)
    return page if page is not None and holds(page, urls.DOTTED_HOST) else None


def _without_trailing(value: str) -> str:
    return replaced(value, urls.TRAILING if "(" in value else urls.TRAILING_AND_BRACKET, "", 1)
