"""CrisisLexT_7 of the paper: exactly its 2,270 rows, by the list of ids beside this file.

The rule behind the list: sort events by size; of the i-th take the first
``min(int(989 * 0.5**i + 50), n)`` tweets that are not 'Not related', in the order of its
``tweetids_entire_period`` file. Boston's file is not in the public collection, so its 297 rows
cannot be derived by the rule; the list of ids is used instead.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import polars as pl

from eventide.data.datasets import crisislex
from eventide.data.datasets.dataset import Collected, Dataset
from eventide.errors import UnreadableSource

EVENTS = (
    "2013_NY_train_crash",
    "2013_Alberta_floods",
    "2013_Boston_bombings",
    "2012_Colorado_wildfires",
    "2013_Queensland_floods",
    "2013_West_Texas_explosion",
    "2013_Colorado_floods",
)
"""Events by label."""


def row_list() -> pl.DataFrame:
    """Return the dataset's rows in order: ``id, label, event``.

    >>> row_list().height
    2270
    """
    listed = files("eventide.data.datasets").joinpath("crisislex_t7_ids.csv").read_bytes()
    rows = pl.read_csv(listed, infer_schema=False).rename({"tweet_id": "id"})
    return rows.with_columns(pl.col("label").cast(pl.Int64)).with_columns(
        event=pl.col("label").replace_strict(dict(enumerate(EVENTS)), return_dtype=pl.String)
    )


def collect(checkout: Path) -> Collected:
    """Read the texts of the listed tweets from a CrisisLex checkout."""
    texts = pl.concat(
        crisislex.labelled(checkout, crisislex.T26, event).select(
            "id", "text", pl.lit(event).alias("event")
        )
        for event in EVENTS
    )
    rows = row_list().join(
        texts.unique(["id", "event"], keep="first"),
        on=["id", "event"],
        how="left",
        maintain_order="left",
    )
    absent = rows.filter(pl.col("text").is_null())
    if absent.height:
        raise UnreadableSource(
            f"{absent.height} of the {rows.height} listed tweets are not in this checkout, the "
            f"first: {absent['id'][0]} of {absent['event'][0]}",
            where=str(crisislex.collection(checkout, crisislex.T26)),
            next_step=f"restore the collection's files: {crisislex.OBTAIN}",
        )
    note = (
        "the paper prints 989 training messages for its largest event; the collection, without "
        "repeated ids, gives 950"
    )
    return Collected(crisislex.finished(rows), (note,))


DATASET = Dataset(
    name="crisislex-t7",
    messages=2270,
    events=7,
    source=crisislex.SOURCE,
    obtain=crisislex.OBTAIN,
    collect=collect,
)
