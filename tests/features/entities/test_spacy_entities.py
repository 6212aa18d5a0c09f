from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import polars as pl
import pytest

from eventide.errors import MissingDependency
from eventide.features.elements import with_elements

FRAME = pl.DataFrame({"text": ["Boston on Monday http://t.co/x", "calm"]})


def fake_spacy(found: dict[str, list[tuple[str, str]]]) -> ModuleType:
    def pipe(texts: list[str], batch_size: int) -> list[Any]:
        return [
            SimpleNamespace(
                ents=[
                    SimpleNamespace(text=text, label_=label) for text, label in found[words.strip()]
                ]
            )
            for words in texts
        ]

    def load(name: str, exclude: list[str]) -> Any:
        if name != "tiny":
            raise OSError(f"[E050] Can't find model {name!r}")
        assert "ner" not in exclude
        return SimpleNamespace(pipe=pipe)

    module = ModuleType("spacy")
    module.load = load  # type: ignore[attr-defined]
    return module


def test_names_come_from_the_pipeline_without_dates(monkeypatch: pytest.MonkeyPatch) -> None:
    found = {
        "Boston on Monday": [("Boston", "GPE"), ("BOSTON", "GPE"), ("Monday", "DATE")],
        "calm": [],
    }
    monkeypatch.setitem(sys.modules, "spacy", fake_spacy(found))
    out = with_elements(FRAME, entities="spacy:tiny")
    assert out["entities"].to_list() == [["boston"], []]
    assert out["urls"].to_list() == [["t.co/x"], []]


def test_a_missing_pipeline_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy", fake_spacy({}))
    with pytest.raises(MissingDependency, match="spacy download xx_small"):
        with_elements(FRAME, entities="spacy:xx_small")


def test_without_spacy_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)  # makes the import fail
    with pytest.raises(MissingDependency, match=r"eventide\[spacy\]"):
        with_elements(FRAME, entities="spacy:xx_small")
