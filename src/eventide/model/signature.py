"""What a run is: its method, settings and data, part by part, so that a checkpoint of another run
is not continued, and the error can name what differs."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import polars as pl

import eventide
from eventide.corpus.training_set import PreparedData
from eventide.model.parameters import whole_seed
from eventide.model.salt import salt_check
from eventide.settings import Settings

if TYPE_CHECKING:
    from eventide.model.classifier import EventClassifier

COLUMNS = {
    "messages": ("id",),
    "texts": ("text",),
    "times": ("created_at",),
    "labels": ("event",),
    "splits": ("split",),
}
ROWS = 100_000  # at a time


def run_signature(
    model: EventClassifier, settings: Settings, messages: pl.DataFrame, plan: PreparedData
) -> dict[str, Any]:
    """Describe a run on ``messages`` (canonical, elements filled in)."""
    featuriser = plan.featuriser
    views = {view.name: list(view.columns) for view in featuriser.views}
    elements = sorted({column for columns in views.values() for column in columns})
    parts: Mapping[str, Any] = {
        "eventide": eventide.__version__,
        "method": model.method,
        "protocol": model.protocol,
        "seed": whole_seed(model.seed),
        "settings": settings.model_dump(mode="json"),
        "encoder": [featuriser.encoder.name, featuriser.encoder.state().facts],
        "entities": model.entities,
        "views": views,
        "elements": digest(messages.select(elements)),
        "vectors": _vectors(messages, featuriser.encoder.name),
        "classes": plan.classes.tolist(),
        "salt": salt_check(featuriser.salt) if featuriser.salt_apart else None,
    }
    return {**parts, **{part: digest(messages.select(own)) for part, own in COLUMNS.items()}}


def digest(messages: pl.DataFrame) -> str:
    """Digest columns, the same on every machine.

    >>> digest(pl.DataFrame({"a": ["x", None]})) == digest(pl.DataFrame({"a": ["x", ""]}))
    False
    """
    found = blake2b(digest_size=16)
    for part in messages.iter_slices(ROWS):
        found.update(part.write_ndjson().encode())
    return found.hexdigest()


def _vectors(messages: pl.DataFrame, encoder: str) -> str | None:
    """Digest the vectors that the user gave; others follow from encoder and texts."""
    if "precomputed" not in encoder or "vector" not in messages.columns:
        return None
    found = blake2b(digest_size=16)
    for part in messages["vector"].to_frame().iter_slices(ROWS):
        lists = part["vector"]
        found.update(lists.list.len().to_numpy().tobytes())
        found.update(lists.list.explode(empty_as_null=False).to_numpy().tobytes())
    return found.hexdigest()
