"""Hashtags and mentions: find them in text in any script, and write each one way only.

The patterns know no look-around, so each consumes the character before the sign.
"""

from __future__ import annotations

import re
from unicodedata import normalize

from eventide.features.elements.pattern_search import Matches, Texts

WORD = r"\p{L}\p{M}\p{N}_"
# Zero-width joiners and middle dots belong to a tag only between two letters.
_JOINERS = "\u200c\u200d·・"
_TAG = rf"[{WORD}]+(?:[{_JOINERS}][{WORD}]+)*"
# Emoji end in a variation selector or keycap mark, which is a boundary although it is a "mark".
_EMOJI_END = "[\ufe0e\ufe0f\u20e3]"
# "#one#two" is two tags, but "#话题#正文" (Weibo) is one tag followed by text.
HASHTAGS = (
    rf"(?:^|{_EMOJI_END}|[^{WORD}&])[#＃]{_TAG}"
    rf"(?:[#＃][\p{{L}}--\p{{Han}}](?:{_TAG})?)*"
)

_HANDLE = "[A-Za-z0-9_]+"
_HOST = r"[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}"
_NAME = (
    rf"(?:[A-Za-z0-9_]+(?:[.-][A-Za-z0-9_]+)*@{_HOST}"  # Mastodon: @user@host
    rf"|{_HANDLE}(?:[.-]{_HANDLE})*\.bsky\.social"
    rf"|{_HANDLE}|[{WORD}]+)"
)
MENTIONS = r"(?:^|(?:^|[^A-Za-z0-9_+~.-])[Rr][Tt]:?|[^A-Za-z0-9_!#＃$%&*@＠])[@＠]" + _NAME
# All that Unicode calls white space.
SPACE = "\t\n\x0b\x0c\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
_BEFORE = "#@" + SPACE
_SIGN = re.compile("[#＃]")
_BEFORE_AT = re.compile("^[^@＠]*")


def hashtag_matches(texts: Texts) -> Matches:
    """Every run of hashtags in texts without urls: " #one#two"."""
    return texts.matches(HASHTAGS, texts.rows_with("#＃"))


def mention_matches(texts: Texts) -> Matches:
    """Every mention in texts without urls, with what stands before its sign: "RT @bbc"."""
    return texts.matches(MENTIONS, texts.rows_with("@＠"))


def split_hashtags(match: str) -> list[str]:
    """Cut a run of hashtags at the signs.

    >>> split_hashtags(" #one#Two")
    ['one', 'Two']
    """
    return _SIGN.split(match)[1:]


def found_hashtags(match: str) -> list[str]:
    """The hashtags of a run, canonical; "#1", "#2013" and keycaps name nothing.

    >>> found_hashtags(" #one#Two"), found_hashtags("#2013")
    (['one', 'two'], [])
    """
    named = [tag for tag in split_hashtags(match) if any(map(str.isalpha, tag))]
    return [tag for tag in map(canonical_tag, named) if tag]


def found_mentions(match: str) -> list[str]:
    """The name that a match mentions, canonical."""
    name = canonical_tag(_BEFORE_AT.sub("", match))
    return [name] if name else []


def canonical_tag(value: str) -> str:
    """A hashtag or mention without its sign, in one case and one Unicode form; it may be empty.

    >>> canonical_tag("#Boston"), canonical_tag("＃ＢＯＳＴＯＮ"), canonical_tag("#")
    ('boston', 'boston', '')
    """
    folded = value.lower()
    if not value.isascii():
        # Lower-casing can undo the normal form and the other way round, so both are done twice;
        # the final sigma is folded because it depends on what follows.
        folded = normalize("NFKC", normalize("NFKC", value).lower()).lower().replace("ς", "σ")
    return folded.lstrip(_BEFORE).strip(SPACE)
