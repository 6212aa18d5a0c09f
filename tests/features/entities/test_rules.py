from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from entity_scores import EntityScore, entity_score
from eventide.errors import BadSetting
from eventide.features.elements import with_elements

LABELLED = pl.read_ndjson(Path(__file__).with_name("entities.jsonl"))
PIECES = st.sampled_from(
    ["Boston", "the ", "THE ", " of ", "New York", "#PrayForOslo", "RT @x: ", ". ", "!", "'s ", "’", "in ",
     "Flight 370", "…", "«", "」", "東京", "ドルトムント", "U.S.", "http://t.co/a", "É", "ß", "İ", "\u0301", " "]
)  # fmt: skip
TEXTS = st.lists(st.one_of(PIECES, st.text(max_size=4)), max_size=10).map("".join)


def entities(text: str) -> list[str]:
    return with_elements(pl.DataFrame({"text": [text]}))["entities"].to_list()[0]


def figures(part: str) -> EntityScore:
    rows = LABELLED.filter(pl.col("part") == part)
    truth = with_elements(rows, entities="given")["entities"]
    return entity_score(with_elements(rows.select("text"))["entities"].to_list(), truth.to_list())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A fire in New York City near Lac-Mégantic", ["new york city", "lac-mégantic"]),
        ("The University of Dundee and Maria Torres of Moore", ["university of dundee", "maria torres", "moore"]),
        ("Thinking of you. Prayers sent. Flooding again", []),
        ("Messi scores again for the win", ["messi"]),
        ("RT @bbc: BREAKING: Uruguay's Suarez bites", ["uruguay", "suarez"]),
        ("THE RED CROSS IS ON MAPLE STREET, OMG SO SCARY", ["red cross", "maple street"]),
        ("Volcano Eruption Forces Thousands From Homes In Sumatra", ["sumatra"]),
        ("#PrayForBoston #QueenslandFloods #worldcup #2013 #SoTired", ["boston", "queensland", "world cup"]),
        ("on Monday in June I saw 370 people", []),
        ("we left on Flight 370 to the G20, Chelsea 2-1", ["flight 370", "g20", "chelsea"]),
        ("mail @Boston http://Paris.com/London now", []),
        ("President Obama met Queensland Premier Campbell Newman", ["obama", "queensland", "campbell newman"]),
        ("I'll go. Don't. L'explosion. It'd be", []),
        ("Die Feuerwehr ist im Einsatz in Passau", ["passau"]),
        ("El presidente de la Ciudad de México", ["ciudad de méxico"]),
        ("praying for everyone in tokyo tonight", ["tokyo"]),
        ("電影《流浪地球》 新曲「初恋」 ドルトムント", ["流浪地球", "初恋", "ドルトムント"]),
        ("صباح الخير يا أصدقاء สวัสดี おはよう 今天天气真好", []),
        ("Ahead of Le Pen, U.S. voters and St. Mary's Church", ["le pen", "us", "st mary's church"]),
    ],
)  # fmt: skip
def test_rules(text: str, expected: list[str]) -> None:
    assert sorted(entities(text)) == sorted(expected)


def test_the_labelled_set_is_large_and_varied() -> None:
    assert len(LABELLED) >= 200
    assert LABELLED["language"].n_unique() >= 12
    assert LABELLED["text"].is_unique().all()
    sizes = dict(LABELLED["part"].value_counts().iter_rows())
    assert abs(sizes["dev"] - sizes["held-out"]) <= 10


@pytest.mark.parametrize(
    ("part", "precision", "recall"), [("held-out", 0.91, 0.81), ("fresh", 0.91, 0.84)]
)
def test_precision_and_recall_stay_where_they_were_measured(
    part: str, precision: float, recall: float
) -> None:
    score = figures(part)
    assert score.precision > precision
    assert score.recall > recall


def test_given_none_and_unknown_settings() -> None:
    frame = pl.DataFrame(
        {"text": ["Boston is wet"] * 3, "entities": [["Oslo ", "oslo", ""], [], None]}
    )
    assert with_elements(frame)["entities"].to_list() == [["oslo"], [], ["boston"]]
    assert with_elements(frame, entities="given")["entities"].to_list() == [["oslo"], [], []]
    assert with_elements(frame, entities="none")["entities"].to_list() == [["oslo"], [], []]
    text = frame.select("text")
    assert with_elements(text, entities="none")["entities"].to_list() == [[], [], []]
    for unknown in ("magic", "spacy:", ""):
        with pytest.raises(BadSetting, match="rules"):
            with_elements(frame, entities=unknown)


@pytest.mark.parametrize("entities", ["rules", "given", "none"])
def test_empty_frame(entities: str) -> None:
    out = with_elements(pl.DataFrame(schema={"text": pl.String}), entities=entities)
    assert out.schema["entities"] == pl.List(pl.String)


@given(st.lists(TEXTS, min_size=1, max_size=4))
@settings(max_examples=30, deadline=None)
def test_total_idempotent_and_independent_of_the_batch(texts: list[str]) -> None:
    frame = pl.DataFrame({"text": texts})
    out = with_elements(frame)
    assert out.equals(with_elements(out))
    assert out.equals(pl.concat([with_elements(frame[row]) for row in range(len(texts))]))
    for values in out["entities"].to_list():
        assert all(value == value.strip() and value for value in values)
        assert len(set(values)) == len(values)


@given(st.lists(TEXTS, max_size=4))
@settings(max_examples=30, deadline=None)
def test_canonical_form_of_given_entities_is_stable(values: list[str]) -> None:
    schema = {"text": pl.String, "entities": pl.List(pl.String)}
    once = with_elements(pl.DataFrame({"text": ["x"], "entities": [values]}, schema=schema))
    assert once.equals(with_elements(once))
