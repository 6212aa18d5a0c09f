"""Urls: find them in text and reduce each to the part that says which page it is."""

from __future__ import annotations

import re

from eventide.features.elements.tags import SPACE

_URL_END = r"[^\s<>\"“”「」『』（）【】、。，！？…]+"
# Shortened retweets end in "…" or " ...": the mark is taken along to see that the url is cut off.
_CUT = r"(?:…|\s\.\.\.\s*\z)?"
_HTTP = "[hH][tT][tT][pP][sS]?://"
_SHORT = r"[tT]\.[cC][oO]/[A-Za-z0-9]+"
# A t.co link ends with its code, even where text without spaces follows it.
URLS = rf"(?:{_HTTP}{_SHORT}|\b{_SHORT}|{_HTTP}{_URL_END}|\b[wW][wW][wW]\.{_URL_END}){_CUT}"

# Parameters that say who shared the page, or where, and never which page it is.
_TRACKING = (
    r"(?:(?:utm_[^=&#?]*|fb_[a-z_]+|mc_[a-z]+|at_[a-z_]+|ns_[a-z_]+|hss_channel|fbclid|gclid|dclid"
    r"|gclsrc|msclkid|yclid|twclid|igshid|igsh|wbraid|gbraid|ref_src|ref_url|twsrc|twcamp|twterm"
    r"|cmpid|cmp|ncid|ocid|smid|smtyp|sref|soc_src|soc_trk|mbid|_ga|si|feature|xtor)=[^&#]*"
    r"|s=\d+)"
)
# A url with nothing to reduce but its scheme.
_PLAIN = re.compile(
    r"https?://(?!www)[a-z0-9-]+(?:\.[a-z0-9-]+)+/(?:[A-Za-z0-9_-]+/)*[A-Za-z0-9_-]+"
)
_PREFIX = re.compile(r"(?:https?:/+|/+|\s+|www\d?\.|[^/?#]*@)+", re.IGNORECASE)
_HOST_NAME = re.compile(r"[a-z0-9-]+(?:\.[a-z0-9-]+)+")
_SHORTENERS = frozenset(
    ["t.co", "bit.ly", "goo.gl", "ow.ly", "tinyurl.com", "is.gd", "fb.me", "youtu.be", "dlvr.it"]
)
_TRAILING = SPACE + "/.,;:!?&#'’\"”»*~|>]}…，。！？、"
_CUT_OFF = re.compile(r"(?:…|\.\.\.)[\s\"'”’)\]]*\Z")
_AFTER_HOST = re.compile("[/?#]")
_DOTTED_HOST = re.compile(r"[^/?#]+\.[^/?#.]")
_FRAGMENT = re.compile(r"#(?:[^!/].*)?\Z")  # "#!" and "#/" are pages of their own
_FIRST_TRACKING = re.compile(rf"\?(?:&|{_TRACKING}(?:&|\Z))+", re.IGNORECASE)
_NEXT_TRACKING = re.compile(rf"&{_TRACKING}", re.IGNORECASE)


def found_urls(match: str) -> list[str]:
    """The page that a url in a text names; none where its host has no dot ("http://foo").

    >>> found_urls("http://t.co/Ab1"), found_urls("http://foo")
    (['t.co/Ab1'], [])
    """
    page = canonical_url(match)
    return [page] if _DOTTED_HOST.match(page) else []


def canonical_url(value: str) -> str:
    """A url without scheme, www., tracking, fragment and trailing punctuation.

    Empty where it is cut off ("http://t.co/ab…") or names no page (a shortener's bare host, or no
    host at all): it would link messages that have nothing to do with each other.

    >>> canonical_url("http://www.BBC.co.uk/News/?utm_source=x&id=3#top")
    'bbc.co.uk/News/?id=3'
    >>> canonical_url("http://t.co/ab…"), canonical_url("t.co/"), canonical_url("http://:80/x")
    ('', '', '')
    """
    if _PLAIN.fullmatch(value):
        return value.partition("//")[2]
    # What one step uncovers the next may reduce: the canonical form is where nothing changes.
    while (page := _reduced(value)) not in ("", value):
        value = page
    return page


def _reduced(value: str) -> str:
    bare = _without_trailing(value.strip(SPACE))
    prefix = _PREFIX.match(bare)
    bare = bare[prefix.end() :] if prefix else bare
    given = _AFTER_HOST.split(bare, maxsplit=1)[0]
    host = _canonical_host(given)
    if not host:
        return ""
    rest = _FRAGMENT.sub("", bare[len(given) :], count=1).replace("&amp;", "&")
    rest = _NEXT_TRACKING.sub("", _FIRST_TRACKING.sub("?", rest, count=1))
    page = _without_trailing(host + rest)
    return "" if page in _SHORTENERS or _CUT_OFF.search(value) else page


def _without_trailing(value: str) -> str:
    # A closing bracket belongs to the page when it was opened in it: /wiki/Floods_(album)
    return value.rstrip(_TRAILING if "(" in value else _TRAILING + ")）")


def _canonical_host(host: str) -> str:
    name = host.lower()
    name = name if name.isascii() else _ascii_host(name)
    while name != (shorter := name.rstrip(".:").removesuffix(":80").removesuffix(":443")):
        name = shorter
    return name


def _ascii_host(host: str) -> str:
    """Write a host that is not ASCII as the name servers know it; what is no host stays."""
    name, colon, port = host.partition(":")
    try:
        plain = name.encode("idna").decode("ascii").lower()
    except UnicodeError:
        return host
    # What is no host name in ASCII either could not exist: any stable form will do.
    return plain.removeprefix("www.") + colon + port if _HOST_NAME.fullmatch(plain) else host
