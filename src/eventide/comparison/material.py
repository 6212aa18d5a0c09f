"""The messages of a comparison: read once, elements filled in once, recognised by content."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import polars as pl

from eventide.comparison.contestant import Contestant
from eventide.data import read
from eventide.data.schema import SCHEMA
from eventide.errors import InputError, warn
from eventide.features.elements import with_elements


@dataclass(frozen=True)
class Material:
    """Canonical ``messages`` with their elements; ``fingerprint`` changes with any cell of them."""

    name: str
    messages: pl.DataFrame
    fingerprint: str
    entities: str = "rules"
    notes: tuple[str, ...] = ()


def read_material(
    source: Any,
    contestants: Sequence[Contestant] = (),
    *,
    columns: Mapping[str, str] | None = None,
    entities: str = "rules",
    name: str | None = None,
) -> Material:
    """Read any kind of source, with the columns that the contestants' views need.

    What was read already (an `Intake`) is taken as it is. ``name`` is what tables call the data.

    >>> rows = [{"id": 1, "text": "flood", "created_at": "2013-06-21", "event": "alberta"}]
    >>> read_material(rows).name
    'messages'
    """
    intake = read(source, columns=columns, lists=needed_lists(contestants))
    if intake is not source and len(intake.rejected):
        intake.check_rejected()
        warn(f"{intake.summary()}\n  these rows were set aside")
    if not intake.messages["event"].count():
        raise InputError(
            "a comparison needs labelled messages, found none",
            where="column event",
            next_step="map the column: --column event=NAME",
        )
    messages = with_elements(intake.messages, entities=entities)
    digest = blake2b(messages.write_ndjson().encode("utf-8", "surrogatepass"), digest_size=16)
    notes = (*intake.notes, *([intake.summary()] if len(intake.rejected) else []))
    return Material(name or data_name(source), messages, digest.hexdigest(), entities, notes)


def needed_lists(contestants: Sequence[Contestant]) -> list[str]:
    """Name the list columns that the contestants' views need beyond those that are always read."""
    needed = {
        column for each in contestants for view in each.graph_views() for column in view.columns
    }
    return sorted(needed - set(SCHEMA))


def data_name(source: Any) -> str:
    """Return what tables and folders call the data.

    >>> data_name("data/crisislex-t7.parquet"), data_name("-"), data_name([{"id": 1}])
    ('crisislex-t7', 'messages', 'messages')
    """
    named = isinstance(source, (str, Path)) and str(source) != "-"
    return Path(source).stem if named else "messages"
