"""Words that tell an event from the others, and the messages that are most telling of it."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eventide.data.near_duplicates import normalised
from eventide.features.entities.word_lists import stop_words

URLS = r"(?:https?://|www\.)\S+|@\w+"
WORDS = r"[\p{L}\p{N}_]{3,30}"
FEW = 5
"""Events with fewer messages have words that only one message has."""

Ints = NDArray[np.int64]


def keywords(texts: pl.Series, event: Ints, classes: int, most: int = 6) -> list[list[str]]:
    """Return the words that tell each event, by p ln(p/q): p is the share of the event's messages.

    q is the share of all messages. A word counts once in a message.

    >>> texts = pl.Series(["flood in town", "flood again", "fire in town", "fire again"])
    >>> keywords(texts, np.array([0, 0, 1, 1]), 2, most=1)
    [['flood'], ['fire']]
    """
    table = _table(texts, event)
    sizes = np.bincount(event[event >= 0], minlength=classes)
    found: list[list[str]] = [[] for _ in range(classes)]
    ranked = (
        table.group_by("event", "word")
        .len("own")
        .with_columns(all=pl.col("own").sum().over("word"))
        .with_columns(size=pl.col("event").replace_strict(dict(enumerate(sizes.tolist()))))
        .filter((pl.col("own") > 1) | (pl.col("size") < FEW))
        .with_columns(share=pl.col("own") / pl.col("size"))
        .with_columns(gain=pl.col("share") * (pl.col("share") * len(texts) / pl.col("all")).log())
        .filter(pl.col("gain") > 0)
        .sort("gain", "word", descending=[True, False])
        .group_by("event", maintain_order=True)
        .head(most)
    )
    for index, word in ranked.select("event", "word").rows():
        found[index].append(word)
    return found


def telling(
    texts: pl.Series, rows: Ints, words: list[str], doubt: NDArray[np.float64], most: int = 3
) -> Ints:
    """Return up to ``most`` of ``rows``: the surer half, with most keywords, no text twice."""
    if not len(rows):
        return rows
    sure = rows[doubt[rows] <= np.median(doubt[rows])]
    own = texts.gather(sure)
    plain = normalised(own)
    hits = np.zeros(len(sure), np.int64)
    for word in words:
        hits += plain.str.contains(word, literal=True).to_numpy()
    order = np.lexsort((doubt[sure], -hits))
    taken, kept = set(), []
    for index in order:
        mark = plain[int(index)]
        if mark not in taken:
            taken.add(mark)
            kept.append(int(sure[index]))
        if len(kept) == most:
            break
    return np.array(kept, np.int64)


def _table(texts: pl.Series, event: Ints) -> pl.DataFrame:
    """One row for each word of each message that has an event."""
    frame = pl.DataFrame({"text": texts, "event": event, "row": np.arange(len(texts))})
    return (
        frame.filter(pl.col("event") >= 0)
        .with_columns(
            word=pl.col("text").str.to_lowercase().str.replace_all(URLS, " ").str.extract_all(WORDS)
        )
        .explode("word")
        .filter(pl.col("word").is_not_null() & ~pl.col("word").is_in(list(stop_words())))
        .unique(["row", "word"])
        .select("event", "word")
    )
