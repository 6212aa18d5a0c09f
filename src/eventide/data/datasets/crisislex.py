"""Reads a checkout of the CrisisLex collection: T26 (labelled by informativeness) and T6.

Neither collection has times; they are read from the tweet ids.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from eventide.data.parsing.time_strings import snowflake_times
from eventide.data.schema import canonical
from eventide.errors import MissingColumn, UnreadableSource

SOURCE = "a checkout of the public CrisisLex collection (GitHub: sajao/CrisisLex, MIT licence)"
OBTAIN = (
    "git clone https://github.com/sajao/CrisisLex, then --from CrisisLex (the folder that holds "
    "data/CrisisLexT26 and data/CrisisLexT6)"
)
T26, T6 = "CrisisLexT26", "CrisisLexT6"
_LABELLED = {
    T26: ("{event}-tweets_labeled.csv", ("Tweet ID", "Tweet Text", "Informativeness")),
    T6: ("{event}-ontopic_offtopic.csv", ("tweet id", "tweet", "label")),
}

EVENTS = {
    T26: (
        "2012_Colorado_wildfires",
        "2012_Costa_Rica_earthquake",
        "2012_Guatemala_earthquake",
        "2012_Italy_earthquakes",
        "2012_Philipinnes_floods",
        "2012_Typhoon_Pablo",
        "2012_Venezuela_refinery",
        "2013_Alberta_floods",
        "2013_Australia_bushfire",
        "2013_Bohol_earthquake",
        "2013_Boston_bombings",
        "2013_Brazil_nightclub_fire",
        "2013_Colorado_floods",
        "2013_Glasgow_helicopter_crash",
        "2013_LA_airport_shootings",
        "2013_Lac_Megantic_train_crash",
        "2013_Manila_floods",
        "2013_NY_train_crash",
        "2013_Queensland_floods",
        "2013_Russia_meteor",
        "2013_Sardinia_floods",
        "2013_Savar_building_collapse",
        "2013_Singapore_haze",
        "2013_Spain_train_crash",
        "2013_Typhoon_Yolanda",
        "2013_West_Texas_explosion",
    ),
    T6: (
        "2012_Sandy_Hurricane",
        "2013_Alberta_Floods",
        "2013_Boston_Bombings",
        "2013_Oklahoma_Tornado",
        "2013_Queensland_Floods",
        "2013_West_Texas_Explosion",
    ),
}
"""The event folders of each collection, in order: a checkout that lacks one is not complete."""


def collection(checkout: Path, name: str) -> Path:
    """Find the folder of T26 or T6 in the user's path: the checkout, or its data folder."""
    for folder in (checkout / "data" / name, checkout / name, checkout):
        if folder.name == name and folder.is_dir():
            return folder
    raise UnreadableSource(
        f"no folder data/{name} here" if checkout.exists() else "no such folder",
        where=str(checkout),
        next_step=f"give a CrisisLex checkout: {OBTAIN}",
    )


def labelled(checkout: Path, name: str, event: str) -> pl.DataFrame:
    """Read the labelled tweets of one event as ``id, text, answer``, in the order of the file."""
    pattern, columns = _LABELLED[name]
    file = collection(checkout, name) / event / pattern.format(event=event)
    if not file.is_file():
        raise UnreadableSource(
            f"the event {event} of {name} is not in this checkout: its labelled file is missing",
            where=str(file),
            next_step=f"complete the checkout: {OBTAIN}",
        )
    try:
        frame = pl.read_csv(file, infer_schema=False)
    except pl.exceptions.PolarsError as error:
        reason = str(error).splitlines()[0]
        raise UnreadableSource(
            f"not a readable CSV file ({reason})",
            where=str(file),
            next_step="restore the file from the collection (git checkout)",
        ) from None
    frame = frame.rename(str.strip)
    missing = [column for column in columns if column not in frame.columns]
    if missing:
        raise MissingColumn(
            f"columns missing: {', '.join(missing)}; found: {', '.join(frame.columns)}",
            where=str(file),
            next_step="restore the file from the collection (git checkout)",
        )
    identity, text, answer = columns
    return frame.select(
        pl.col(identity).str.strip_chars(" '\"").alias("id"),
        pl.col(text).alias("text"),
        pl.col(answer).str.strip_chars().alias("answer"),
    )


def related(checkout: Path, name: str, event: str) -> pl.DataFrame:
    """Read ``id, text`` of the tweets about the event: T26 not 'Not related', T6 'on-topic'."""
    about = pl.col("answer") != "Not related" if name == T26 else pl.col("answer") == "on-topic"
    return labelled(checkout, name, event).filter(about).select("id", "text")


def finished(rows: pl.DataFrame) -> pl.DataFrame:
    """Convert ``id, text, event, label`` to the canonical schema, with times from the ids."""
    return canonical(rows.with_columns(created_at=snowflake_times(rows["id"])))
