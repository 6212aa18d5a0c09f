"""Hashtags and mentions: find them in text in any script, and write each one way only.

Everything here is a polars expression (Rust regex, no look-around), so a million messages take
about a second. A pattern therefore consumes the character before the sign, and the canonical form
strips it again.
"""

from __future__ import annotations

import polars as pl

_WORD = r"\p{L}\p{M}\p{N}_"
# Zero-width joiners and middle dots belong to a tag only between two letters.
_TAG = rf"[{_WORD}]+(?:[\x{{200C}}\x{{200D}}·・][{_WORD}]+)*"
# Emoji end in a variation selector or keycap mark, which is a boundary although it is a "mark".
_EMOJI_END = r"[\x{FE0E}\x{FE0F}\x{20E3}]"
# "#one#two" is two tags, but "#话题#正文" (Weibo) is one tag followed by text.
HASHTAGS = (
    rf"(?:^|{_EMOJI_END}|[^{_WORD}&])[#＃]{_TAG}"
    rf"(?:[#＃][\p{{L}}--\p{{Han}}](?:{_TAG})?)*"
)

_HANDLE = "[A-Za-z0-9_]+"
_HOST = r"[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}"
MENTIONS = (
    r"(?:^|(?:^|[^A-Za-z0-9_+~.-])[Rr][Tt]:?|[^A-Za-z0-9_!#＃$%&*@＠])[@＠]"
    rf"(?:[A-Za-z0-9_]+(?:[.-][A-Za-z0-9_]+)*@{_HOST}"  # Mastodon: @user@host
    rf"|{_HANDLE}(?:[.-]{_HANDLE})*\.bsky\.social"
    rf"|{_HANDLE}|[{_WORD}]+)"
)


def find_hashtags(text: pl.Expr) -> pl.Expr:
    """Lists of the hashtags in ``text`` (urls removed beforehand), not yet canonical."""
    # A chain such as "#one#two" comes as one match: joined and cut at the signs it is two.
    chains = text.str.extract_all(HASHTAGS).list.join(" ")
    return chains.str.extract_all(rf"[#＃]{_TAG}")


def find_mentions(text: pl.Expr) -> pl.Expr:
    """Lists of the mentions in ``text`` (urls removed beforehand), not yet canonical."""
    return text.str.extract_all(MENTIONS)


def canonical_tags(values: pl.Series) -> pl.Series:
    """Hashtags or mentions without their sign, in one case and one Unicode form.

    Null where nothing is left.

    >>> canonical_tags(pl.Series(["#Boston", "＃ＢＯＳＴＯＮ", "@bbc", "#"])).to_list()
    ['boston', 'boston', 'bbc', None]
    """
    foreign = values.str.contains(r"[^\x00-\x7F]").fill_null(value=False)
    folded = values.str.to_lowercase()
    if foreign.any():
        folded = folded.zip_with(~foreign, _folded(only(values, foreign)))
    bare = folded.str.replace(r"^[#@\s]+", "").str.strip_chars()
    return only(bare, bare != "")


def found_hashtags(values: pl.Series) -> pl.Series:
    """As ``canonical_tags``, but null for "#1", "#2013" and keycaps, which name nothing."""
    return canonical_tags(only(values, values.str.contains(r"\p{L}")))


def found_mentions(values: pl.Series) -> pl.Series:
    """As ``canonical_tags``, without what the pattern consumed before the sign."""
    return canonical_tags(values.str.replace(r"^[^@＠]*[@＠]", ""))


def only(values: pl.Series, wanted: pl.Series) -> pl.Series:
    """``values`` where ``wanted``, null elsewhere."""
    return pl.select(pl.when(wanted).then(values)).to_series().alias(values.name)


def _folded(values: pl.Series) -> pl.Series:
    # Lower-casing can undo the normal form and the other way round, so both are done twice; the
    # final sigma is folded because it depends on what follows.
    once = values.str.normalize("NFKC").str.to_lowercase().str.normalize("NFKC")
    return once.str.to_lowercase().str.replace_all("ς", "σ", literal=True)
