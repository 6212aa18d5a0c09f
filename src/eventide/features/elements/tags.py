"""Hashtags and mentions: find them in text in any script, and write each one way only.

Everything here is a whole column at once in polars (Rust regex, no look-around). A careful pattern
therefore consumes the character before the sign. It is needed only where a sign stands close to
something else; free-standing signs, as nearly all are, begin the pattern, and that is twice as
fast.
"""

from __future__ import annotations

from dataclasses import dataclass

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
_NAME = (
    rf"(?:[A-Za-z0-9_]+(?:[.-][A-Za-z0-9_]+)*@{_HOST}"  # Mastodon: @user@host
    rf"|{_HANDLE}(?:[.-]{_HANDLE})*\.bsky\.social"
    rf"|{_HANDLE}|[{_WORD}]+)"
)
MENTIONS = r"(?:^|(?:^|[^A-Za-z0-9_+~.-])[Rr][Tt]:?|[^A-Za-z0-9_!#＃$%&*@＠])[@＠]" + _NAME
# Signs and white space, all that Unicode calls so.
BEFORE = "#@\t\n\x0b\x0c\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
BARE_TAG = rf"[#＃]{_TAG}"
BEFORE_AT = "^[^@＠]*"
LETTER = r"\p{L}"
SIGNED = "[#＃@＠]"
"""A text without any of these holds neither hashtags nor mentions."""


@dataclass(frozen=True)
class Sign:
    """How what follows a sign is found: where it stands free, and where it does not."""

    plain: str
    wide: str  # as East Asian keyboards write it
    glued: str  # the plain sign after a character that could make a difference
    free: str
    careful: str


HASH = Sign("#", "＃", rf"[{_WORD}&]#", rf"#{_TAG}", HASHTAGS)
AT = Sign("@", "＠", rf"[{_WORD}!#＃$%&*]@", rf"@{_NAME}", MENTIONS)


def find_hashtags(texts: pl.DataFrame) -> pl.DataFrame:
    """Frame of (row, value): the hashtags in ``text`` (urls removed), not yet canonical."""
    free, careful = _found(texts, HASH)
    if careful.is_empty():
        return free
    # A chain such as "#one#two" comes as one match: cut at the signs it is two.
    cut = careful.select("row", value=pl.col("value").str.extract_all(BARE_TAG))
    return pl.concat([free, cut.explode("value")]).sort("row", maintain_order=True)


def find_mentions(texts: pl.DataFrame) -> pl.DataFrame:
    """Frame of (row, value): the mentions in ``text`` (urls removed), not yet canonical."""
    free, careful = _found(texts, AT)
    if careful.is_empty():
        return free
    bare = careful.select("row", value=pl.col("value").str.replace(BEFORE_AT, ""))
    return pl.concat([free, bare]).sort("row", maintain_order=True)


def _found(texts: pl.DataFrame, sign: Sign) -> tuple[pl.DataFrame, pl.DataFrame]:
    """What the signs of all texts begin: in texts where each stands free, and in the others."""
    wide = texts["text"].str.contains(sign.wide, literal=True)
    spotted = texts.filter(wide | texts["text"].str.contains(sign.plain, literal=True))
    text = spotted["text"]
    # Three searches, because a pattern around one literal is five times as fast as any other.
    glued = text.str.contains(sign.glued) | text.str.contains(sign.plain * 2, literal=True)
    glued = glued | text.str.contains(sign.wide, literal=True) if wide.any() else glued
    return (
        _matches(spotted.filter(~glued), sign.free),
        _matches(spotted.filter(glued), sign.careful),
    )


def _matches(texts: pl.DataFrame, pattern: str) -> pl.DataFrame:
    if texts.is_empty():  # saves a small batch most of its time
        return texts.select("row", value="text")
    found = texts.select("row", value=pl.col("text").str.extract_all(pattern))
    return found.explode("value").drop_nulls("value")


def canonical_tags(values: pl.Series) -> pl.Series:
    """Hashtags or mentions without their sign, in one case and one Unicode form.

    Null where nothing is left.

    >>> canonical_tags(pl.Series(["#Boston", "＃ＢＯＳＴＯＮ", "@bbc", "#"])).to_list()
    ['boston', 'boston', 'bbc', None]
    """
    foreign = not_ascii(values)
    folded = values.str.to_lowercase()
    if foreign.any():
        folded = folded.zip_with(~foreign, _folded(only(values, foreign)))
    bare = folded.str.strip_chars_start(BEFORE).str.strip_chars()
    nothing = bare == ""
    return only(bare, ~nothing) if nothing.any() else bare


def found_hashtags(values: pl.Series) -> pl.Series:
    """As ``canonical_tags``, but null for "#1", "#2013" and keycaps, which name nothing."""
    named = values.str.contains(LETTER)
    return canonical_tags(values if named.all() else only(values, named))


def not_ascii(values: pl.Series) -> pl.Series:
    """Where a value holds characters beyond ASCII; false where it is null."""
    return (values.str.len_bytes() != values.str.len_chars()).fill_null(value=False)


def only(values: pl.Series, wanted: pl.Series) -> pl.Series:
    """``values`` where ``wanted``, null elsewhere."""
    return pl.select(pl.when(wanted).then(values)).to_series().alias(values.name)


def _folded(values: pl.Series) -> pl.Series:
    # Lower-casing can undo the normal form and the other way round, so both are done twice; the
    # final sigma is folded because it depends on what follows.
    once = values.str.normalize("NFKC").str.to_lowercase().str.normalize("NFKC")
    return once.str.to_lowercase().str.replace_all("ς", "σ", literal=True)
