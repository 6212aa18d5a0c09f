"""CrisisLexLT_28: the 28 events of CrisisLexT26 and T6 together, cut to a long tail.

T26 tweets not labelled 'Not related', then T6 tweets 'on-topic', folders by name; an id seen before
is skipped; the same event under two spellings is one event, by its T26 name. Events by size, then
name; of the i-th ``min(int(4000 * 0.01**(i / 27)), size - 50) + 50`` tweets, those whose
sha256(id) sorts first.
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
    """Give ``id, text, event`` of every tweet about one of the events, before the cut."""
    spelling: dict[str, str] = {}
    parts = []
    for name in (crisislex.T26, crisislex.T6):
        for folder in crisislex.EVENTS[name]:
            event = spelling.setdefault(folder.casefold(), folder)
            rows = crisislex.related(checkout, name, folder)
            parts.append(rows.with_columns(pl.lit(event).alias("event")))
    return pl.concat(parts).unique("id", keep="first", maintain_order=True)


def collect(checkout: Path) -> Collected:
    """Pool both collections and keep of each event what the tail allows."""
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
