"""The benchmark lock: messages that are reported on, and never used to choose anything.

Rule 1. Near-duplicates are locked together. A group's number in [0, 1) is a hash of its smallest
id, so that copies that come later do not change it. Groups are taken in the order of their numbers.
A group is locked if its number is below a third, or if one of its events of at least 10 messages
has fewer than 10 locked; but not if more than half of one of its events would be locked. Unlabelled
messages follow their group.

A published list holds the result for datasets that share messages: it decides for all of them.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eventide.data.near_duplicates import near_duplicate_groups
from eventide.data.published_lock import hashed_ids, published_locks

VERSION = 1
SALT = b"eventide lock 1"
TUNING_SALT = b"eventide tune 1"
"""Draws the messages that stand in for locked ones while settings are chosen."""
SHARE, LEAST = 1 / 3, 10


@dataclass(frozen=True)
class Lock:
    """Which messages are locked, in the order of the messages, and by which list or rule."""

    name: str
    mask: NDArray[np.bool_]


def lock_of(messages: pl.DataFrame) -> Lock:
    """Say which of ``messages`` (id, text, event) are locked.

    A published list that knows at least one of the ids decides alone; else `rule_lock` does.
    """
    hashes = hashed_ids(messages["id"])
    for published in published_locks():
        if not published.known.isdisjoint(hashes):
            locked = np.fromiter((each in published.locked for each in hashes), dtype=np.bool_)
            return Lock(published.name, locked)
    return rule_lock(messages)


def without_locked(messages: pl.DataFrame) -> pl.DataFrame:
    """Return the messages that may be used to choose."""
    return messages.filter(~lock_of(messages).mask)


def tuning_mask(messages: pl.DataFrame) -> NDArray[np.bool_]:
    """Say which of ``messages``, none of them locked, are tested while settings are chosen."""
    return rule_lock(messages, TUNING_SALT).mask


def rule_lock(messages: pl.DataFrame, salt: bytes = SALT) -> Lock:
    """Apply the rule to ``messages`` (id, text, event); their order does not matter.

    >>> texts = [f"message {number}: " + chr(97 + number) * 20 for number in range(26)]
    >>> frame = pl.DataFrame({"id": texts, "text": texts, "event": ["fire"] * 26})
    >>> int(rule_lock(frame).mask.sum())
    12
    """
    rows = messages.select("id", "text", "event").with_row_index("row").sort("id", "text", "event")
    rows = rows.with_columns(pl.Series("group", near_duplicate_groups(rows["text"])))
    # Groups are numbered by first appearance, and rows are sorted by id.
    first = rows.group_by("group", maintain_order=True).agg(pl.col("id").first())["id"]
    order = np.array([_number(identity, salt) for identity in first], dtype=np.float64)
    locked = _locked_groups(order, rows.drop_nulls("event"))
    mask = np.zeros(rows.height, dtype=np.bool_)
    mask[rows["row"].to_numpy()] = locked[rows["group"].to_numpy()]
    return Lock(f"rule-{VERSION}", mask)


def lock_counts(messages: pl.DataFrame, lock: Lock) -> pl.DataFrame:
    """Count ``event, locked, messages``, largest event first; unlabelled messages last."""
    return (
        messages.select("event", pl.Series("locked", lock.mask))
        .group_by("event")
        .agg(pl.col("locked").sum().cast(pl.Int64), pl.len().cast(pl.Int64).alias("messages"))
        .sort(pl.col("event").is_null(), -pl.col("messages"), "event")
    )


def _number(identity: str, salt: bytes) -> float:
    digest = blake2b(identity.encode(), digest_size=6, salt=salt).digest()
    return float(int.from_bytes(digest, "big") / (1 << 48))


def _locked_groups(order: NDArray[np.float64], labelled: pl.DataFrame) -> NDArray[np.bool_]:
    """Decide for each group; ``labelled`` has a row ``group, event`` for each labelled message."""
    size: dict[str, int] = dict(labelled.group_by("event").len().rows())
    parts: defaultdict[int, list[tuple[str, int]]] = defaultdict(list)
    for group, event, count in labelled.group_by("group", "event").len().rows():
        parts[group].append((event, count))
    held = dict.fromkeys(size, 0)
    locked = np.zeros(len(order), dtype=np.bool_)
    for group in np.argsort(order, kind="stable").tolist():
        short = any(size[event] >= LEAST > held[event] for event, _ in parts[group])
        fits = all(held[event] + count <= size[event] // 2 for event, count in parts[group])
        if fits and (short or order[group] < SHARE):
            locked[group] = True
            for event, count in parts[group]:
                held[event] += count
    return locked
