"""A few messages take another way to their elements than many: both must come to the same."""

from __future__ import annotations

import sys
import time
import unicodedata
from functools import cache

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eventide.data.schema import READ_CHARACTERS
from eventide.features.elements import small_batch_elements as few
from eventide.features.elements import tags, urls, with_elements, with_tags
from eventide.features.elements.rust_patterns import fitting
from eventide.features.entities import rules as entities
from eventide.features.letters import has_letter_or_digit, known_to_both
from eventide.runtime.threads import FEW

FRAGMENTS = (
    *("#", "＃", "@", "＠", "##", "RT ", "rt:", "http://", "https://t.co/Ab1", "HTTPſ://", "www."),
    *("WWW.bbc.co.uk/", "t.co/", "?utm_source=x&", "&amp;", "&", "/", "(", ")", "#!", ":80", "…"),
    *(" ...", ". ", "...", "İ", "ſ", "K", "ß", "ς", "ΑΣ", "‖", "¦", "\x1c", "\x1f", "\x85", "\xa0"),
    *(
        "\u200d",
        "\u200b",
        "·",
        "・",
        "\ufe0f",
        "1️⃣",
        "😀",
        "🇩🇪",
        "\n",
        "\t",
        " ",
        "  ",
        "é",
        "e\u0301",
    ),
    *(
        "Boston",
        "New York",
        "in Passau",
        "der ",
        "the ",
        "University of ",
        "St. ",
        "U.S.",
        "O'Neil’s",
    ),
    *(
        "BREAKING",
        "Chelsea 2-1",
        "de la",
        "3rd ",
        "地震",
        "熊本",
        "زلزال",
        "ไทย",
        "「台風です」",
        "カタカナ",
    ),
    *("user@host.social", "a.bsky.social", "_", "-", "'", "’", "日本", "中文#正文", "münchen.de/ü"),
)
hostile = st.lists(
    st.sampled_from(FRAGMENTS) | st.text(st.characters(exclude_categories=["Cs"]), max_size=4),
    max_size=12,
).map("".join)
many = st.lists(hostile, min_size=FEW + 1, max_size=FEW + 8)


def one_by_one(frame: pl.DataFrame) -> pl.DataFrame:
    """The elements of each row, asked for alone."""
    return pl.concat(with_elements(row) for row in frame.iter_slices(1))


@settings(max_examples=12, deadline=None)
@given(many)
def test_one_message_has_the_elements_it_has_among_many(texts: list[str]) -> None:
    frame = pl.DataFrame({"text": texts}, schema={"text": pl.String})
    assert one_by_one(frame).to_dicts() == with_elements(frame).to_dicts()


@settings(max_examples=8, deadline=None)
@given(many, st.data())
def test_given_lists_are_written_the_same_for_one_and_for_many(
    texts: list[str], data: st.DataObject
) -> None:
    cells = st.none() | st.lists(hostile | st.none(), max_size=3)
    columns = ("hashtags", "mentions", "urls", "entities")
    lists = {
        name: data.draw(st.lists(cells, min_size=len(texts), max_size=len(texts)))
        for name in columns
    }
    schema = {"text": pl.String, **dict.fromkeys(columns, pl.List(pl.String))}
    frame = pl.DataFrame({"text": texts, **lists}, schema=schema)
    assert one_by_one(frame).to_dicts() == with_elements(frame).to_dicts()


PATTERNS = {
    "urls": urls.URLS,
    "prefix": urls.PREFIX,
    "first tracking": urls.FIRST_TRACKING,
    "trailing": urls.TRAILING,
    "hashtags": tags.HASHTAGS,
    "free hashtags": tags.HASH.free,
    "glued hashtags": tags.HASH.glued,
    "mentions": tags.MENTIONS,
    "glued mentions": tags.AT.glued,
    "candidates": entities.CANDIDATES,
    "caseless": entities.CASELESS,
    "known": entities.known_pattern(),
    "small": entities.SMALL,
    **{f"not prose {number}": pattern for number, (pattern, _) in enumerate(entities.NOT_PROSE)},
}


@cache
def hostile_texts() -> list[str]:
    """Every character of the small scripts and some of the large ones, in many places."""
    codes = [*range(0x3400), *range(0x3400, 0xD800, 97), *range(0xE000, 0x32000, 13)]
    known = [each for each in map(chr, codes) if known_to_both(each)]
    texts = ["".join(known[start : start + 1000]) for start in range(0, len(known), 1000)]
    # Between letters, at starts of words, after signs and inside of addresses as well.
    around = [*known[:700], *"İıſKẞßΣς‖¦\u200c\u200d\ufe0f\u20e3＃＠東ー・"]
    return texts + [f"a{e}#{e}b @{e} x{e}A. http{e}//t.co/{e} http{e}://w" for e in around]


@pytest.mark.parametrize("name", PATTERNS)
def test_a_translated_pattern_finds_the_same_among_all_characters(name: str) -> None:
    texts = hostile_texts()
    found = pl.Series(texts).str.extract_all(PATTERNS[name]).to_list()
    for text, matches in zip(texts, found, strict=True):
        assert [match[0] for match in fitting(PATTERNS[name], text).finditer(text)] == matches


def test_both_know_the_same_characters_in_the_same_way() -> None:
    every = pl.Series([chr(c) for c in range(sys.maxunicode + 1) if not 0xD800 <= c <= 0xDFFF])
    known = every.filter(pl.Series([known_to_both(each) for each in every]))
    assert known.str.to_lowercase().to_list() == [each.lower() for each in known]
    normal = [unicodedata.normalize("NFKC", each) for each in known]
    assert known.str.normalize("NFKC").to_list() == normal
    worded = [has_letter_or_digit(each) for each in known]
    assert known.str.contains(r"[\p{L}\p{N}]").to_list() == worded


def test_new_characters_and_very_long_texts_are_left_to_polars() -> None:
    assert not few.is_few(pl.DataFrame({"text": ["\U0003fffd"]}), [])
    assert not few.is_few(pl.DataFrame({"text": ["a" * (few.LONGEST + 1)]}), [])
    given_list = pl.DataFrame({"text": ["a"], "urls": [["\U0003fffd"]]})
    assert few.is_few(given_list, [])
    assert not few.is_few(given_list, ["urls"])


def test_a_hostile_text_takes_no_time() -> None:
    """Patterns that backtrack would need minutes for these texts."""
    with_elements(pl.DataFrame({"text": ["whatever has to be loaded first"]}))
    for piece in ("." * 2000, "#a" * 1000, "A." * 1000, "http://" * 285, "@a." * 660, "-" * 2000):
        started = time.process_time()
        with_tags(pl.DataFrame({"text": [piece]}))
        with_elements(pl.DataFrame({"text": [piece]}))
        assert time.process_time() - started < 1, piece[:10]


def test_case_is_ignored_as_rust_does() -> None:
    assert fitting("(?i)[a-z]ks", "İKſ").findall("iKſ İKſ") == ["iKſ"]


def test_a_text_of_megabytes_is_read_in_part_on_both_ways() -> None:
    """Row 17: 12 MB took 50 s; a few or many messages around it give the same elements."""
    long = "flood in #Calgary @bbc http://t.co/a " * 330_000 + " #end"
    started = time.process_time()
    alone = with_elements(pl.DataFrame({"text": [long]}))
    among = with_elements(pl.DataFrame({"text": [long, *["calm"] * FEW]}))
    assert time.process_time() - started < 1
    assert alone.rows()[0][1:] == among.rows()[0][1:]
    assert alone["hashtags"].to_list() == [["calgary"]]
    assert alone["text"].item() == long
    short = with_elements(pl.DataFrame({"text": [long[:READ_CHARACTERS]]}))
    assert short.rows()[0][1:] == alone.rows()[0][1:]
