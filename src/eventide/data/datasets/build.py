"""Building a dataset: collect, split, write as Parquet, register; and the list of all."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from eventide.data.datasets import DATASETS, data_folder, register, registered_path
from eventide.data.datasets.dataset import Dataset
from eventide.data.near_duplicates import near_duplicate_groups
from eventide.data.split_draws import Groups
from eventide.data.splits import SPLITS, split_counts, split_messages, split_name, split_shortfalls
from eventide.errors import BadSetting, UnreadableSource
from eventide.outputs import check_file, write_parquet


def listing() -> list[dict[str, Any]]:
    """Return one row per dataset: what it is, its size, where its source is from, if it is built.

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


@dataclass(frozen=True)
class Built:
    """The result of a build: the file, its counts, and notes."""

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
        """Return the same as plain values for programs."""
        values = asdict(self) | {"path": str(self.path), "events": self.events.height}
        return values | self.totals() | {"classes": self.events.to_dicts()}


def build(
    name: str,
    source: Path,
    out: Path | None = None,
    *,
    seed: int = 0,
    split: str = "random",
    keep_together: bool = False,
) -> Built:
    """Build the dataset ``name`` from ``source``, write it to ``out`` and register it.

    Without ``out`` it goes to the user's data folder. ``split`` is one of `SPLITS` that draws.
    ``keep_together`` keeps near-duplicate texts in one part of it, whichever it is.
    """
    split = split_name(split)
    if SPLITS[split].stored:
        raise BadSetting(
            f"a build draws its split; it cannot be {split!r}",
            next_step=f"choose one of: {', '.join(drawn_splits())}",
        )
    keep_together = keep_together or SPLITS[split].keeps_duplicates_together
    dataset: Dataset = DATASETS.load(name)
    target = out or data_folder() / f"{name}.parquet"
    target = check_file(target, overwrite=True, inputs=[source])  # before the work, not after it
    collected = dataset.collect(source)
    notes = list(collected.notes)
    messages = split_messages(collected.messages, split, seed)
    if keep_together:
        groups = near_duplicate_groups(messages["text"])
        apart = messages
        messages = split_messages(collected.messages, split, seed, groups)
        notes += _nearness(messages, apart, groups)
    if dataset.messages not in (None, messages.height):
        notes.append(f"expected {dataset.messages:,} messages, got {messages.height:,}")
    counts = split_counts(messages)
    if dataset.paper is not None:
        notes.append(dataset.paper.compared(counts["train"]))
    write_parquet(messages, target)
    register(name, target)
    return Built(name, target, seed, split, counts, notes)


def drawn_splits() -> list[str]:
    """Name the splits that a build can draw."""
    return [name for name, each in SPLITS.items() if not each.stored]


def _nearness(messages: pl.DataFrame, asked: pl.DataFrame, groups: Groups) -> list[str]:
    """Say how many texts were kept together, and which events missed their counts by how much."""
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
