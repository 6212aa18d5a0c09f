from __future__ import annotations

import polars as pl
import pytest

from eventide.errors import EventideError, InputError, MissingColumn
from eventide.graphs.keys import KeyIndex, check_distinct, element_keys
from eventide.graphs.views import ENTITY, HASHTAG, PAPER_VIEWS, View, incidence, union


def frame(**columns):
    return pl.DataFrame(columns)


def test_paper_views():
    assert [view.name for view in PAPER_VIEWS] == ["hashtag", "entity", "user"]
    assert union(PAPER_VIEWS).columns == ("hashtags", "urls", "entities", "mentions")


def test_repeats_nulls_and_empty_strings_are_not_elements():
    found = incidence(frame(entities=[["a", "a", ""], None, [], ["a", None]]), ENTITY)
    assert found.degrees.tolist() == [1, 0, 0, 1]
    assert len(found.keys) == 1


def test_columns_do_not_mix():
    found = incidence(frame(hashtags=[["x"], []], urls=[[], ["x"]]), HASHTAG)
    assert found.elements[0] != found.elements[1]


def test_a_plain_string_column_can_be_a_view():
    found = incidence(frame(user=["ann", None, "ann"]), View("author", ("user",)))
    assert found.degrees.tolist() == [1, 0, 1]
    assert found.elements[0] == found.elements[1]


def test_an_empty_view():
    found = incidence(frame(entities=pl.Series([None, None], dtype=pl.List(pl.String))), ENTITY)
    assert found.degrees.tolist() == [0, 0]


def test_missing_and_wrong_columns():
    with pytest.raises(MissingColumn, match="view 'entity' needs the column 'entities'"):
        incidence(frame(text=["a"]), ENTITY)
    with pytest.raises(InputError, match="not strings"):
        incidence(frame(entities=[[1, 2]]), ENTITY)


def test_keys_depend_on_salt_kind_and_element():
    plain, salted = element_keys("h", ["x", "y"]), element_keys("h", ["x", "y"], b"salt")
    assert len({*plain.tolist(), *salted.tolist(), *element_keys("u", ["x"]).tolist()}) == 5
    assert (element_keys("h", ["x", "y"], b"salt") == salted).all()


def test_a_collision_is_an_error():
    keys = element_keys("h", ["x", "x"])
    with pytest.raises(EventideError, match="same 128-bit key"):
        check_distinct(keys)
    with pytest.raises(EventideError):
        KeyIndex(keys)


def test_key_index():
    index = KeyIndex(element_keys("h", map(str, range(100))))
    assert index.find(element_keys("h", ["42", "x", "0"])).tolist() == [42, -1, 0]
    assert KeyIndex(element_keys("h", [])).find(element_keys("h", ["a"])).tolist() == [-1]


def test_a_few_messages_and_many_give_the_same_incidence(monkeypatch):
    lists = [["flood", "fire"], [], None, ["", None, "fire"], ["flood", "flood"]] * 3
    frame = pl.DataFrame({"hashtags": lists, "urls": lists[::-1], "user": ["ann", None, ""] * 5})
    view = View("all", ("hashtags", "urls", "user"))
    found = []
    for few in (0, len(frame)):
        monkeypatch.setattr("eventide.graphs.views.FEW", few)
        found.append(incidence(frame, view, b"salt"))
    for part in ("pointers", "elements", "keys"):
        assert getattr(found[0], part).tolist() == getattr(found[1], part).tolist()
