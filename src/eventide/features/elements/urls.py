"""Urls: find them in text and reduce each to the part that says which page it is."""

from __future__ import annotations

import re

import polars as pl

from eventide.features.elements.tags import SIGNED, not_ascii, only

_URL_END = r"[^\s<>\"“”「」『』（）【】、。，！？…]+"
# Shortened retweets end in "…" or " ...": the mark is taken along to see that the url is cut off.
_CUT = r"(?:…|\s\.\.\.\s*$)?"
# A t.co link ends with its code, even where text without spaces follows it.
URLS = (
    r"(?i)(?:https?://t\.co/[a-z0-9]+|\bt\.co/[a-z0-9]+"
    rf"|https?://{_URL_END}|\bwww\.{_URL_END}){_CUT}"
)

# Parameters that say who shared the page, or where, and never which page it is.
_TRACKING = (
    r"(?:(?:utm_[^=&#]*|fb_[a-z_]+|mc_[a-z]+|at_[a-z_]+|ns_[a-z_]+|hss_channel|fbclid|gclid|dclid"
    r"|gclsrc|msclkid|yclid|twclid|igshid|igsh|wbraid|gbraid|ref_src|ref_url|twsrc|twcamp|twterm"
    r"|cmpid|cmp|ncid|ocid|smid|smtyp|sref|soc_src|soc_trk|mbid|_ga|si|feature|xtor)=[^&#]*"
    r"|s=\d+)"
)
# A url with nothing to reduce but its scheme.
PLAIN = r"^https?://[a-z0-9-]+(?:\.[a-z0-9-]+)+/(?:[A-Za-z0-9_-]+/)*[A-Za-z0-9_-]+$"
PREFIX = r"(?i)^(?:https?:/+|/+|\s+|www\d?\.|[^/?#]*@)+"
_HOST_NAME = re.compile(r"[a-z0-9-]+(?:\.[a-z0-9-]+)+")
SHORTENERS = r"^(?:t\.co|bit\.ly|goo\.gl|ow\.ly|tinyurl\.com|is\.gd|fb\.me|youtu\.be|dlvr\.it)?$"
TRAILING = r"[\s/.,;:!?&#'’\"”»*~|>\]}…，。！？、]+$"
TRAILING_AND_BRACKET = TRAILING.replace(r"\]", r")）\]")
CUT_OFF = r"(?:…|\.\.\.)[\s\"'”’)\]]*$"
HOST = r"^([^/?#]*)"
HOST_END = r"(?:\.|:(?:80|443)?)+$"
DOTTED_HOST = r"^[^/?#]+\.[^/?#.]"
FRAGMENT = r"#(?:[^!/].*)?$"  # "#!" and "#/" are pages of their own
FIRST_TRACKING = rf"(?i)\?(?:&|{_TRACKING}(?:&|$))+"
NEXT_TRACKING = rf"(?i)&{_TRACKING}"


def find_urls(texts: pl.DataFrame) -> pl.DataFrame:
    """Frame of (row, value): the urls in ``text``, not yet canonical."""
    found = texts.select("row", value=pl.col("text").str.extract_all(URLS))
    return found.explode("value").drop_nulls("value")


def without_urls(text: pl.Expr) -> pl.Expr:
    """``text`` with a space for each url, so that its "#" and "@" are not taken for tags."""
    return text.str.replace_all(URLS, " ")


def signed_without_urls(texts: pl.DataFrame, found: pl.DataFrame) -> pl.DataFrame:
    """The texts that may hold tags, without the urls that ``find_urls`` found in them."""
    signed = texts.filter(pl.col("text").str.contains(SIGNED))
    linked = signed["row"].is_in(found["row"].implode())
    if not linked.any():
        return signed
    at = linked.arg_true()
    bare = signed["text"].gather(at).str.replace_all(URLS, " ")
    return signed.with_columns(signed["text"].scatter(at, bare))


def canonical_urls(values: pl.Series) -> pl.Series:
    """Urls without scheme, www., tracking, fragment and trailing punctuation.

    Null where one is cut off ("http://t.co/ab…") or names no page (a shortener's bare host): it
    would link messages that have nothing to do with each other.

    >>> pages = ["http://www.BBC.co.uk/News/?utm_source=x&id=3#top", "http://t.co/ab…", "t.co/"]
    >>> canonical_urls(pl.Series(pages)).to_list()
    ['bbc.co.uk/News/?id=3', None, None]
    """
    plain = values.str.contains(PLAIN) & ~values.str.contains("//www", literal=True)
    if plain.all():
        return _without_scheme(values)
    if plain.any():
        reduced = _reduced(values.filter(~plain))
        return _without_scheme(values).scatter((~plain).arg_true(), reduced)
    return _reduced(values)


def _without_scheme(values: pl.Series) -> pl.Series:
    return values.str.strip_prefix("http://").str.strip_prefix("https://")


def _reduced(values: pl.Series) -> pl.Series:
    cut_off = values.str.contains(CUT_OFF)
    bare = _without_trailing(values.str.strip_chars()).str.replace(PREFIX, "")
    host = _ascii_hosts(bare.str.extract(HOST).str.to_lowercase())
    host = host.str.replace(HOST_END, "")
    rest = bare.str.replace(HOST, "")
    page = _without_trailing(host + _without_tracking(rest))
    return only(page, ~cut_off & ~page.str.contains(SHORTENERS))


def found_urls(values: pl.Series) -> pl.Series:
    """As ``canonical_urls``, but null where the host has no dot ("http://foo")."""
    pages = canonical_urls(values)
    return only(pages, pages.str.contains(DOTTED_HOST))


def _without_tracking(rest: pl.Series) -> pl.Series:
    return (
        rest.str.replace(FRAGMENT, "")
        .str.replace_all("&amp;", "&", literal=True)
        .str.replace(FIRST_TRACKING, "?")
        .str.replace_all(NEXT_TRACKING, "")
    )


def _without_trailing(values: pl.Series) -> pl.Series:
    # A closing bracket belongs to the page when it was opened in it: /wiki/Floods_(album)
    opened = values.str.contains("(", literal=True)
    closed = values.str.replace(TRAILING_AND_BRACKET, "")
    return values.str.replace(TRAILING, "").zip_with(opened, closed) if opened.any() else closed


def _ascii_hosts(hosts: pl.Series) -> pl.Series:
    foreign = not_ascii(hosts)
    if not foreign.any():
        return hosts
    # Such hosts are rare, so only they pay for a step in Python.
    names = only(hosts, foreign).map_elements(ascii_host, return_dtype=pl.String)
    return names.zip_with(foreign, hosts)


def ascii_host(host: str) -> str:
    """Write a host that is not ASCII as the name servers know it; what is no host stays."""
    name, colon, port = host.partition(":")
    try:
        plain = name.encode("idna").decode("ascii").lower()
    except UnicodeError:
        return host
    # What is no host name in ASCII either could not exist: any stable form will do.
    return plain.removeprefix("www.") + colon + port if _HOST_NAME.fullmatch(plain) else host
