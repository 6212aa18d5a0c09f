from __future__ import annotations

import time

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eventide.features.elements import urls, with_tags

COLUMNS = ("hashtags", "mentions", "urls")
PIECES = st.sampled_from(
    ["#", "＃", "@", "＠", " ", "http://", "https://", "www.", "t.co/", ".com", "/", "?", "&", "=",
     "utm_source=x", "s=20", "…", "...", ")", "(", ":80", "a", "Z", "é", "ς", "İ", "ß", "東", "\u200c"]
)  # fmt: skip
TEXTS = st.lists(st.one_of(PIECES, st.text(max_size=4)), max_size=14).map("".join)


def tags(text: str, column: str) -> list[str]:
    return with_tags(pl.DataFrame({"text": [text]}))[column].to_list()[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("flood in #Queensland!", ["queensland"]),
        ("#Boston #boston #BOSTON", ["boston"]),
        ("#one#two three#four", ["one", "two"]),
        ("it&#39;s &amp;#so", ["so"]),
        ("#2013 #1 #️⃣ #2013floods #mh370", ["2013floods", "mh370"]),
        ("http://a.com/x#top http://a.com/#y www.b.com/?q=#z", []),
        ("＃東京 ❤️#love (#a) .#b", ["東京", "love", "a", "b"]),
        ("#زلزال_تركيا #हिन्दी #علی‌رضا #ΑΘΗΝΑΣ", ["زلزال_تركيا", "हिन्दी", "علی‌رضا", "αθηνασ"]),
        ("#北京暴雨#今天又下雨了", ["北京暴雨"]),
        ("no tags # here", []),
    ],
)
def test_hashtags(text: str, expected: list[str]) -> None:
    assert tags(text, "hashtags") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("RT @BBC: hi @Joe's", ["bbc", "joe"]),
        ("RT@one: .@two (@three) ＠four", ["one", "two", "three", "four"]),
        ("joe@example.com, a.b@c.org", []),
        ("@joe@Mastodon.Social and @ann.bsky.social", ["joe@mastodon.social", "ann.bsky.social"]),
        ("http://medium.com/@ann/x?@b", []),
        ("@userさん @人民日报 @ nobody @@", ["user", "人民日报"]),
    ],
)
def test_mentions(text: str, expected: list[str]) -> None:
    assert tags(text, "mentions") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(see https://www.BBC.co.uk/News/).", ["bbc.co.uk/News"]),
        ("http://x.org/?utm_source=a&utm_medium=b HTTPS://X.ORG:443", ["x.org"]),
        ("http://x.org/a?utm_source=a&id=3&fbclid=9&p=1#frag", ["x.org/a?id=3&p=1"]),
        (
            "http://twitter.com/a/status/1?s=20 http://x.org/?sid=4",
            ["twitter.com/a/status/1", "x.org/?sid=4"],
        ),
        ("http://en.wikipedia.org/wiki/Flood_(song)", ["en.wikipedia.org/wiki/Flood_(song)"]),
        (
            "http://t.co/ab… http://t.co/ http://t.c http://foo https://t.co/Abc123XY",
            ["t.c", "t.co/Abc123XY"],
        ),
        ("RT @a: cut http://t.co/tghYK ...", []),
        ("bare t.co/XyZ, not at.co/XyZ", ["t.co/XyZ"]),
        (
            "http://München.de/x http://user:secret@host.org:8080/",
            ["xn--mnchen-3ya.de/x", "host.org:8080"],
        ),
        ("見てhttps://t.co/Q1w2e3です", ["t.co/Q1w2e3"]),
        ("http://x.org/#!/page http://x.org/a#comment", ["x.org/#!/page", "x.org/a"]),
    ],
)
def test_urls(text: str, expected: list[str]) -> None:
    assert tags(text, "urls") == expected


def test_given_lists_are_tidied_and_never_replaced() -> None:
    frame = pl.DataFrame(
        {
            "text": ["#a @b http://c.com", "#a @b http://c.com", "#a @b http://c.com"],
            "hashtags": [["#Boston", "boston", "", " "], [], None],
            "mentions": [["@BBC", None], [], None],
            "urls": [["http://www.X.org/?utm_source=1", "x.org"], [], None],
        }
    )
    out = with_tags(frame)
    assert out.columns == frame.columns
    assert out.rows()[0][1:] == (["boston"], ["bbc"], ["x.org"])
    assert out.rows()[1][1:] == ([], [], [])
    assert out.rows()[2][1:] == (["a"], ["b"], ["c.com"])


def test_empty_frame_has_list_columns() -> None:
    out = with_tags(pl.DataFrame({"text": []}, schema={"text": pl.String}))
    assert [out.schema[column] for column in COLUMNS] == [pl.List(pl.String)] * 3


@given(st.lists(TEXTS, min_size=1, max_size=5))
@settings(max_examples=60, deadline=None)
def test_extraction_is_total_idempotent_and_row_by_row(texts: list[str]) -> None:
    frame = pl.DataFrame({"text": texts})
    out = with_tags(frame)
    assert out.equals(with_tags(out))
    alone = pl.concat([with_tags(frame[row]) for row in range(len(texts))])
    assert out.equals(alone)
    for column in COLUMNS:
        for text, values in zip(texts, out[column].to_list(), strict=True):
            assert values is not None
            assert "" not in values
            assert len(set(values)) == len(values)
            if not any(sign in text for sign in "#＃@＠"):
                assert column == "urls" or values == []


@given(st.lists(TEXTS, max_size=4))
@settings(max_examples=60, deadline=None)
def test_canonical_form_of_given_values_is_stable(values: list[str]) -> None:
    frame = pl.DataFrame(
        {"text": ["#x"], **{column: [values] for column in COLUMNS}},
        schema={"text": pl.String, **dict.fromkeys(COLUMNS, pl.List(pl.String))},
    )
    once = with_tags(frame)
    assert once.equals(with_tags(once))
    assert all(len(once[column].to_list()[0]) <= len(values) for column in COLUMNS)


@given(
    st.from_regex(
        r"https?://(www\.|www)?[a-z0-9-]{1,3}(\.[a-z0-9-]{1,3}){1,2}/([\w-]{1,3}/)?[\w?=-]{1,3}",
        fullmatch=True,
    )
)
@settings(max_examples=500, deadline=None)
def test_plain_urls_take_a_shorter_way_to_the_same_page(url: str) -> None:
    assert urls.canonical_url(url) == urls._reduced(url)


def test_a_hostile_url_takes_no_time() -> None:
    started = time.process_time()
    for piece in (".", ":80", "www.", "?utm_a", "&utm_", "...'", "(", "@", "#", "/", "?s=1"):
        urls.canonical_url("http://" + piece * 10_000 + "x")
        urls.canonical_url(piece * 10_000)
    assert time.process_time() - started < 2


def test_urls_in_capitals_are_found_too() -> None:
    assert tags("SEE HTTP://X.ORG/A", "urls") == ["x.org/A"]
