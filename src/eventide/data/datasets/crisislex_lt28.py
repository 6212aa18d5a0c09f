"""CrisisLexLT_28: the 28 events of CrisisLexT26 and T6 together, cut to a long tail.

T26 tweets that are not 'Not related' come first, then T6 tweets that are 'on-topic', folders by
name; repeated ids are skipped. The same event in two spellings is one event, with its T26 name.
Events are sorted by size, then name; the i-th keeps the
``min(int(4000 * 0.01**(i / 27)), size - 50) + 50`` tweets with the smallest sha256(id).
"""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import polars as pl

from eventide.data.datasets import crisislex
from eventide.data.datasets.dataset import Collected, Dataset
from eventide.data.long_tail import by_size

LARGEST, RATIO, LAST, HELD_OUT = 4000, 0.01, 27, 50


def pooled(checkout: Path) -> pl.DataFrame:
    """Return ``id, text, event`` of every tweet about one of the events, before the selection."""
    spelling: dict[str, str] = {}
    parts = []
    for name in (crisislex.T26, crisislex.T6):
        for folder in crisislex.EVENTS[name]:
            event = spelling.setdefault(folder.casefold(), folder)
            rows = crisislex.related(checkout, name, folder)
            parts.append(rows.with_columns(pl.lit(event).alias("event")))
    return pl.concat(parts).unique("id", keep="first", maintain_order=True)


def collect(checkout: Path) -> Collected:
    """Pool both collections and select the long tail."""
    rows = pooled(checkout)
    events = by_size(rows)
    kept = [
        min(int(LARGEST * RATIO ** (label / LAST)), size - HELD_OUT) + HELD_OUT
        for label, _, size in events.rows()
    ]
    digests = [sha256(identity.encode()).hexdigest() for identity in rows["id"]]
    messages = (
        rows.with_columns(pl.Series("digest", digests))
        .join(events.with_columns(pl.Series("kept", kept)), on="event")
        .sort("label", "digest")
        .filter(pl.int_range(pl.len()).over("event") < pl.col("kept"))
        .select("id", "text", "event", "label")
    )
    notes = (f"{rows.height:,} tweets pooled, {messages.height:,} kept by the long-tail rule",)
    return Collected(crisislex.finished(messages), notes)


DATASET = Dataset(
    name="crisislex-lt28",
    messages=26_043,
    events=28,
    source=crisislex.SOURCE,
    obtain=crisislex.OBTAIN,
    collect=collect,
)
