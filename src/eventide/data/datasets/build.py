"""Building a dataset: collect, split, write as Parquet, register; and the list of all."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from eventide.data.datasets import DATASETS, data_folder, register, registered_path
from eventide.data.datasets.dataset import Dataset
from eventide.data.near_duplicates import near_duplicate_groups
from eventide.data.splits import (
    Groups,
    chronological_split,
    per_class_split,
    proportional_split,
    split_counts,
    split_shortfalls,
)
from eventide.errors import BadSetting, UnreadableSource
from eventide.outputs import check_file, write_parquet


def listing() -> list[dict[str, Any]]:
    """Give one row per dataset: what it is, how large, where its source comes from, if it is built.

    >>> [row["name"] for row in listing()][:2]
    ['crisislex-t7', 'crisislex-lt28']
    """
    rows = []
    for name, dataset in DATASETS.working().items():
        rows.append(
            {
                "name": name,
                "messages": dataset.messages,
                "events": dataset.events,
                "what": DATASETS.entry(name).summary,
                "source": dataset.source,
                "obtain": dataset.obtain,
                "built": _built(name),
            }
        )
    return rows


def _built(name: str) -> str | None:
    try:
        path = registered_path(name)
    except UnreadableSource:
        return None  # built once, but the file is gone: it has to be built again
    return str(path) if path else None


SPLIT_KINDS = ("per-class", "proportional", "chronological")


@dataclass(frozen=True)
class Built:
    """What a build gave: the file, its counts, and what is worth saying about it."""

    name: str
    path: Path
    seed: int
    split: str
    events: pl.DataFrame
    notes: list[str] = field(default_factory=list)

    def totals(self) -> dict[str, int]:
        """Count messages in all and per part."""
        names = {"messages": "size", "train": "train", "val": "val", "test": "test"}
        return {name: int(self.events[column].sum()) for name, column in names.items()}

    def as_json(self) -> dict[str, Any]:
        """Give the same facts as plain values for programs."""
        facts = asdict(self) | {"path": str(self.path), "events": self.events.height}
        return facts | self.totals() | {"classes": self.events.to_dicts()}


def build(
    name: str,
    source: Path,
    out: Path | None = None,
    *,
    seed: int = 0,
    split: str = "per-class",
    keep_together: bool = False,
) -> Built:
    """Build the dataset ``name`` from ``source``, write it to ``out`` and register it.

    Without ``out`` it goes to the user's data folder. ``keep_together`` keeps near-duplicate texts
    in one part of the split.
    """
    if split not in SPLIT_KINDS:
        raise BadSetting(
            f"no split is called {split!r}", next_step=f"choose one of: {', '.join(SPLIT_KINDS)}"
        )
    dataset: Dataset = DATASETS.load(name)
    target = out or data_folder() / f"{name}.parquet"
    target = check_file(target, overwrite=True, inputs=[source])  # before the work, not after it
    collected = dataset.collect(source)
    notes = list(collected.notes)
    messages = _split(collected.messages, split, seed, None)
    if keep_together:
        groups = near_duplicate_groups(messages["text"])
        apart = messages
        messages = _split(collected.messages, split, seed, groups)
        notes += _nearness(messages, apart, groups)
    if dataset.messages not in (None, messages.height):
        notes.append(f"expected {dataset.messages:,} messages, got {messages.height:,}")
    counts = split_counts(messages)
    if dataset.paper is not None:
        notes.append(dataset.paper.compared(counts["train"]))
    write_parquet(messages, target)
    register(name, target)
    return Built(name, target, seed, split, counts, notes)


def _split(messages: pl.DataFrame, kind: str, seed: int, groups: Groups) -> pl.DataFrame:
    if kind == "per-class":
        return per_class_split(messages, seed=seed, keep_together=groups)
    if kind == "proportional":
        return proportional_split(messages, seed=seed, keep_together=groups)
    return chronological_split(messages, keep_together=groups)


def _nearness(messages: pl.DataFrame, asked: pl.DataFrame, groups: Groups) -> list[str]:
    """Say how many texts were bound together and which events missed their counts by how much."""
    count = 0 if groups is None else len(set(groups.tolist()))
    bound = (
        f"{messages.height:,} messages form {count:,} groups of near-duplicates, each kept whole"
    )
    short = split_shortfalls(messages, asked)
    lines = [
        f"{event}: {val} validation (asked {val_asked}), {test} test (asked {test_asked})"
        for event, val, val_asked, test, test_asked in short.rows()
    ]
    return [bound, *(lines or ["every event has the validation and test counts asked for"])]
