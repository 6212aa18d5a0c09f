"""The built-in sample: a small, realistic data set, generated from a seed.

Twelve invented events over thirty days, long-tailed, with look-alikes (two floods, two elections,
two train accidents, two wildfires), retweets, several languages and a little noise in every view.
All of its text is invented.
"""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eventide.data.sample.generator import (
    DAY_MS,
    Event,
    authors,
    draw_authors,
    events,
    message_times,
    phrases,
    retweet,
    write,
)
from eventide.data.schema import canonical
from eventide.data.split_draws import choose_groups

FIRST_DAY = datetime(2024, 3, 1, tzinfo=UTC)
DAYS = 30
AUTHORS = 1200
RETWEETS = 0.18


def sample(seed: int = 0) -> pl.DataFrame:
    """Generate the sample: about 2,500 labelled messages in the canonical schema, by time.

    Hashtags, mentions, urls and entities are left to extraction, as in any user's file; ``split``
    is filled, and a message and its retweets are always in the same split.

    >>> sample().select("event", "split").n_unique()
    36
    """
    rng = np.random.default_rng(seed)
    names = authors(AUTHORS, rng)
    parts = [_about(event, at, names, rng) for at, event in enumerate(events().values())]
    frame = pl.concat(parts).sort("created_at", maintain_order=True)
    ids = [f"sample-{number:05d}" for number in range(1, frame.height + 1)]
    return canonical(frame.with_columns(pl.Series("id", ids)))


def _about(event: Event, at: int, names: list[str], rng: np.random.Generator) -> pl.DataFrame:
    """All messages of one event: originals, then retweets of some of them."""
    book, twin = phrases(), events()[event.twin]
    size = event.messages
    originals = size - int(RETWEETS * size)
    users = [names[index] for index in draw_authors(at, size, len(names), rng)]
    times = message_times(event, size, rng)
    texts = [write(event, twin, book, names, rng) for _ in range(originals)]

    # Squaring favours a few originals: they get many retweets, most get none.
    source = (rng.random(size - originals) ** 2 * originals).astype(np.int64)
    texts += [retweet(users[index], texts[index]) for index in source]
    delay = (rng.exponential(0.25, size - originals) * DAY_MS).astype(np.int64) + 1000
    times[originals:] = np.minimum(times[source] + delay, DAYS * DAY_MS - 1)

    thread = np.concatenate([np.arange(originals), source])
    start = int(FIRST_DAY.timestamp() * 1000)
    return pl.DataFrame(
        {
            "text": texts,
            "created_at": pl.Series(start + times).cast(pl.Datetime("ms", "UTC")),
            "event": [event.name] * size,
            "user": users,
            "split": _splits(thread, rng),
        }
    )


def _splits(thread: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.str_]:
    """Assign a split to each thread of retweets: 30 test and 20 validation messages, as the paper.

    Small classes give at most a third and a fifth, so that about half stays in training.
    """
    size, members = len(thread), np.bincount(thread)
    split = np.full(len(members), "train")
    order = rng.permutation(len(members))
    for name, wanted in (("test", min(30, size // 3)), ("val", min(20, size // 5))):
        chosen = choose_groups(members[order], wanted)
        split[order[chosen]] = name
        order = np.delete(order, chosen)
    return split[thread]
