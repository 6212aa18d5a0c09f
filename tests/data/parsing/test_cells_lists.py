from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eventide.data.parsing.cells import parse_lists, parse_vectors

names = st.text(
    st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="\\"), min_size=1, max_size=12
).map(str.strip).filter(bool)  # fmt: skip


def parsed(*cells: object, name: str = "entities") -> list[list[str] | None]:
    lists, wrong = parse_lists(pl.Series(name, cells))
    assert not wrong.any()
    assert lists.dtype == pl.List(pl.String)
    return lists.to_list()


@settings(deadline=None)
@given(st.lists(st.lists(names, max_size=4), min_size=1, max_size=6))
def test_json_and_python_text_give_back_their_lists(lists: list[list[str]]) -> None:
    assert parsed(*[json.dumps(x) for x in lists]) == lists
    assert parsed(*[json.dumps(x, ensure_ascii=False) for x in lists]) == lists
    assert parsed(*[repr(x) for x in lists]) == lists
    assert parsed(*[repr(tuple(x)) for x in lists]) == lists


def test_numpy_text() -> None:
    assert parsed(str(np.array(["a", "b c"])), str(np.array([], dtype=str))) == [["a", "b c"], []]


@pytest.mark.parametrize(
    ("cell", "elements"),
    [
        ("a;b", ["a", "b"]),
        ("New York, Paris", ["New York", "Paris"]),
        ("one, two; three", ["one, two", "three"]),
        ("single", ["single"]),
        ("[a, b]", ["a", "b"]),
        ("[1, 2]", ["1", "2"]),
        ("[]", []),
        (" [ ] ", []),
        ("", None),
        ("nan", None),
        ("['a', None, ' ', 5]", ["a", "5"]),
        ("[{'text': 'q', 'indices': [0, 2]}]", ["q"]),
        ("[('New York', 'GPE')]", ["New York"]),
        ("{'b', 'a'}", ["a", "b"]),
    ],
)
def test_written_lists(cell: str, elements: list[str] | None) -> None:
    assert parsed(cell) == [elements]


def test_tags_names_and_links_are_told_apart_by_blanks() -> None:
    assert parsed("#a #b", "a,b|c", name="hashtags") == [["#a", "#b"], ["a", "b", "c"]]
    assert parsed("http://a.b/c,d;e https://x.y", name="urls") == [
        ["http://a.b/c,d;e", "https://x.y"]
    ]


def test_real_lists_are_tidied() -> None:
    assert parsed(["a", None, " b ", ""], None, [], [None]) == [["a", "b"], None, [], []]
    assert parsed([{"text": "x"}, {"text": "y"}]) == [["x", "y"]]
    assert parsed(['{"tag": "x"}', "y"]) == [["x", "y"]]
    assert parsed([1, 2]) == [["1", "2"]]


@pytest.mark.parametrize("cell", ['{"a": 1}', "['a", "[[["])
def test_what_is_no_list_is_marked(cell: str) -> None:
    lists, wrong = parse_lists(pl.Series("entities", [cell, "a"]))
    assert wrong.to_list() == [True, False]
    assert lists.to_list() == [None, ["a"]]
    assert parse_lists(pl.Series([7]))[1].to_list() == [True]


@settings(deadline=None)
@given(
    st.lists(st.one_of(st.none(), st.text(max_size=20))), st.sampled_from(["urls", "hashtags", "x"])
)
def test_any_text_is_a_list_null_or_marked(cells: list[str | None], name: str) -> None:
    series = pl.Series(
        name, [c and c.encode("utf-8", "replace").decode() for c in cells], dtype=pl.String
    )
    lists, wrong = parse_lists(series)
    assert len(lists) == len(wrong) == len(cells)
    assert not (wrong & lists.is_not_null()).any()


def test_vectors() -> None:
    vectors, wrong = parse_vectors(
        pl.Series(["[1 2\n 3]", "(1, 2.5, -3e2)", "x", "[1, inf]", "[]", "", None])
    )
    assert vectors.to_list() == [[1, 2, 3], [1, 2.5, -300], None, None, None, None, None]
    assert wrong.to_list() == [False, False, True, True, True, False, False]
    vectors, wrong = parse_vectors(
        pl.Series([[1.0, 2.0], [1.0, None], [1.0, float("nan")], [1e300], None])
    )
    assert vectors.to_list() == [[1, 2], None, None, None, None]
    assert wrong.to_list() == [False, True, True, True, False]
    assert parse_vectors(pl.Series([[1, 2]], dtype=pl.Array(pl.Int8, 2)))[0].to_list() == [[1, 2]]
    assert parse_vectors(pl.Series([3]))[1].to_list() == [True]
