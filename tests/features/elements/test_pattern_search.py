"""Two engines search the texts of a small and of a large batch: both must find the same."""

from __future__ import annotations

import time
from functools import cache

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eventide.data.schema import READ_CHARACTERS
from eventide.features.elements import pattern_search, tags, urls, with_elements
from eventide.features.elements.pattern_search import LONGEST, LargeBatch, SmallBatch, searchable
from eventide.features.entities import rules as entities
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
    "hashtags": tags.HASHTAGS,
    "mentions": tags.MENTIONS,
    "candidates": entities.CANDIDATES,
    "caseless": entities.CASELESS,
    "known": entities.known_pattern(),
    **{f"manner {number}": pattern for number, pattern in enumerate(entities.MANNER)},
    **{f"not prose {number}": pattern for number, (pattern, _) in enumerate(entities.NOT_PROSE)},
}
known = pattern_search._is_known


@cache
def hostile_texts() -> list[str]:
    """Every character of the small scripts and some of the large ones, in many places."""
    codes = [*range(0x3400), *range(0x3400, 0xD800, 97), *range(0xE000, 0x32000, 13)]
    alike = [each for each in map(chr, codes) if known(each)]
    texts = ["".join(alike[start : start + 1000]) for start in range(0, len(alike), 1000)]
    # Between letters, at starts of words, after signs and inside of addresses as well.
    around = [*alike[:700], *"İıſKẞßΣς‖¦\u200c\u200d\ufe0f\u20e3＃＠東ー・"]
    return texts + [f"a{e}#{e}b @{e} x{e}A. http{e}//t.co/{e} http{e}://w" for e in around]


@pytest.mark.parametrize("name", PATTERNS)
def test_both_engines_find_the_same_among_all_characters(name: str) -> None:
    texts = hostile_texts()
    few, many = SmallBatch(texts), LargeBatch(pl.Series(texts))
    assert few.matches(PATTERNS[name]) == many.matches(PATTERNS[name])
    assert few.counts(PATTERNS[name]) == many.counts(PATTERNS[name])
    instead = "<$1>" if "(St|" in PATTERNS[name] else "<>"
    again = (texts.replaced(PATTERNS[name], instead).to_list() for texts in (few, many))
    assert next(again) == next(again)


def test_both_engines_share_the_small_operations() -> None:
    texts = [text for text in hostile_texts() if "ς" not in text and "Σ" not in text]
    few, many = SmallBatch(texts), LargeBatch(pl.Series(texts))
    assert len(few) == len(many) == len(texts)
    assert few.lower().to_list() == many.lower().to_list()
    assert few.rows_with("#＃@") == many.rows_with("#＃@") != []
    assert few.matches("a", [3, 60]) == many.matches("a", [3, 60])


def test_every_class_of_characters_holds_the_same_for_both_engines() -> None:
    every = "".join(chr(c) for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF and known(chr(c)))
    names = ["L", "M", "N", "Lu", "Ll", "So", "Han", "Latin", "Greek", "Cyrillic", "Armenian"]
    for pattern in (*(rf"\p{{{name}}}+" for name in (*names, "Katakana")), r"\s+", r"\d+", r"\w+"):
        few, many = SmallBatch([every]), LargeBatch(pl.Series([every]))
        assert few.matches(pattern) == many.matches(pattern), pattern


def test_new_characters_and_long_texts_are_left_to_polars() -> None:
    for text in ("\U0003fffd", "ʕ", "a" * (LONGEST + 1)):
        assert isinstance(searchable(pl.Series([text])), LargeBatch)
    assert isinstance(searchable(pl.Series(["a"] * (FEW + 1))), LargeBatch)
    assert isinstance(searchable(pl.Series(["a", None, "é😀"])), SmallBatch)


def test_a_hostile_text_takes_no_time() -> None:
    """Half a second is ten times what the slowest takes, and a square would take minutes."""
    pieces = ("." * 2000, "#a" * 1000, "A." * 1000, "http://" * 285, "@a." * 660, "-" * 2000)
    with_elements(pl.DataFrame({"text": ["compile the patterns first"]}))
    for piece in pieces:
        for text in (piece, piece * 5):
            started = time.process_time()
            with_elements(pl.DataFrame({"text": [text]}))
            assert time.process_time() - started < 0.5, text[:10]


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
