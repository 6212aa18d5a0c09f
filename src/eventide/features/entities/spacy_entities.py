"""Named entities from an installed spaCy pipeline (``entities="spacy:<pipeline>"``)."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import polars as pl

from eventide.errors import MissingDependency
from eventide.features.elements import urls

# Labels that name no place, person, body or event.
_NOT_NAMES = frozenset(
    ["CARDINAL", "DATE", "MONEY", "ORDINAL", "PERCENT", "QUANTITY", "TIME", "LANGUAGE"]
)
_UNUSED = ["tagger", "parser", "lemmatizer", "attribute_ruler", "morphologizer"]


def entities_by_spacy(messages: pl.DataFrame, pipeline: str) -> pl.DataFrame:
    """Frame of (row, value): what ``pipeline`` takes for a name in each ``row`` and ``text``."""
    model = _load(pipeline)
    texts = messages.select(urls.without_urls(pl.col("text")))["text"].to_list()
    found = [
        [name.text for name in document.ents if name.label_ not in _NOT_NAMES]
        for document in model.pipe(texts, batch_size=256)
    ]
    names = pl.Series("value", found, dtype=pl.List(pl.String))
    return messages.select("row").with_columns(names).explode("value").drop_nulls("value")


def _load(pipeline: str) -> Any:
    try:
        spacy = import_module("spacy")
    except ImportError:
        raise MissingDependency(
            f"entities='spacy:{pipeline}' needs spaCy, which is not installed",
            next_step="pip install 'eventide[spacy]', or use entities='rules'",
        ) from None
    try:
        return spacy.load(pipeline, exclude=_UNUSED)
    except OSError:
        raise MissingDependency(
            f"the spaCy pipeline {pipeline!r} is not installed",
            where=f"entities='spacy:{pipeline}'",
            next_step=f"python -m spacy download {pipeline}, or give the path of a pipeline",
        ) from None
