"""Named entities from an installed spaCy pipeline (``entities="spacy:<pipeline>"``)."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from eventide.errors import MissingDependency
from eventide.features.elements.pattern_search import Matches

# Labels that name no place, person, body or event.
_NOT_NAMES = frozenset(
    ["CARDINAL", "DATE", "MONEY", "ORDINAL", "PERCENT", "QUANTITY", "TIME", "LANGUAGE"]
)
_UNUSED = ["tagger", "parser", "lemmatizer", "attribute_ruler", "morphologizer"]


def spacy_matches(texts: list[str], pipeline: str) -> Matches:
    """What ``pipeline`` takes for a name in each of the texts, which hold no urls."""
    documents = _load(pipeline).pipe(texts, batch_size=256)
    return [
        (row, name.text)
        for row, document in enumerate(documents)
        for name in document.ents
        if name.label_ not in _NOT_NAMES
    ]


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
