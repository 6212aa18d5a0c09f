"""How each regime splits messages: what is tested, learned from, hidden, changed or left out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eventide.data.long_tail import by_size, shuffled
from eventide.data.split_draws import assign_groups
from eventide.errors import InputError

Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Pool:
    """Messages, whether each is to be tested, and which are near-duplicates of each other."""

    messages: pl.DataFrame
    tested: Bools
    groups: NDArray[np.int64]

    def taken(self, rows: NDArray[np.int64]) -> Pool:
        """Return these rows alone."""
        return Pool(self.messages[rows.tolist()], self.tested[rows], self.groups[rows])


VALIDATION_SHARE = 0.2
MOST_VALIDATION = 20
"""Validation messages of an event: a fifth of those that are not tested, at most this many."""
MOST_LABELS = 60
"""Labels of the largest event where labels are scarce."""
EARLIER, VALIDATES = 0.5, 0.3
"""The share of an event that comes first and trains, and the share of the later part that comes
first and validates."""


def random_regime(pool: Pool, seed: int) -> pl.DataFrame:
    """Test the locked messages; of the others a fifth validates and the rest trains."""
    return _with_split(pool, _validating(pool, seed))


def chronological_regime(pool: Pool, seed: int, gap_days: float = 0.0) -> pl.DataFrame:
    """Train on each event's earlier half, validate on what follows, test locked later messages.

    Locked messages of the earlier parts are left out: they are neither new nor to be learned from.
    With a gap, so are all messages that follow within ``gap_days`` after the training part.
    Unlabelled messages are left out.
    """
    messages = pool.messages
    untimed = messages["created_at"].is_null() & messages["event"].is_not_null()
    if untimed.any():
        raise InputError(
            f"{int(untimed.sum())} labelled messages have no time",
            where="column created_at",
            next_step="give their times, or choose a regime that is not by time",
        )
    labelled = messages.with_columns(pl.Series("tested", pool.tested)).drop_nulls("event")
    place = (pl.col("created_at").rank("ordinal") - 0.5) / pl.len()
    ends = pl.col("created_at").filter(place <= EARLIER).max()
    ordered = labelled.with_columns(place=place.over("event"), ends=ends.over("event"))
    opens = pl.col("ends") + pl.duration(seconds=86_400 * gap_days)
    later = ordered.filter((pl.col("place") > EARLIER) & (pl.col("created_at") >= opens))
    later = later.with_columns(place=place.over("event"))
    earlier = ordered.filter((pl.col("place") <= EARLIER) & ~pl.col("tested"))
    parts = [
        earlier.with_columns(split=pl.lit("train")),
        later.filter((pl.col("place") <= VALIDATES) & ~pl.col("tested")).with_columns(
            split=pl.lit("val")
        ),
        later.filter((pl.col("place") > VALIDATES) & pl.col("tested")).with_columns(
            split=pl.lit("test")
        ),
    ]
    return pl.concat(part.select(messages.columns) for part in parts)


def scarce_regime(pool: Pool, seed: int, fewest: int) -> pl.DataFrame:
    """Give few labels: ``fewest`` in the smallest event, growing to 60 in the largest.

    The number grows with the logarithm of the size as its own logarithm. A quarter of these labels,
    at least one, validates. All other messages that are not tested are in the graph unlabelled.
    """
    messages, tested = pool.messages, pool.tested
    sizes = by_size(messages.filter(~pl.Series(tested)))
    size = sizes["size"].to_numpy().astype(np.float64)
    spread = np.log(size.max() / size.min())
    growth = np.log(size / size.min()) / spread if spread > 0 else np.zeros(len(size))
    most = max(MOST_LABELS, fewest)
    labels = np.minimum(np.round(fewest * (most / fewest) ** growth), size).astype(np.int64)
    quota = sizes.select("event", labels=pl.Series(labels))
    order = _untested(pool, seed).join(quota, on="event", how="left", maintain_order="left")
    rank = pl.int_range(pl.len()).over("event")
    validates = (pl.col("labels") // 4).clip(1)
    drawn = order.with_columns(rank=rank, validates=validates)
    kept = drawn.filter(pl.col("rank") < pl.col("labels"))
    validating = np.zeros(messages.height, dtype=bool)
    validating[kept.filter(pl.col("rank") < pl.col("validates"))["row"].to_numpy()] = True
    shown = tested.copy()
    shown[kept["row"].to_numpy()] = True
    hidden = messages.with_columns(pl.when(pl.Series(shown)).then(pl.col("event")).alias("event"))
    return _with_split(Pool(hidden, tested, pool.groups), validating)


def corrupted_view_regime(
    pool: Pool, seed: int, percent: float, column: str = "entities"
) -> pl.DataFrame:
    """As random, but a share of the elements of one view is shuffled among all messages.

    A shuffled element keeps its popularity and loses its meaning. Training, validation and tested
    messages are corrupted alike.
    """
    split = random_regime(pool, seed)
    lists = split.select(column).with_row_index("row").explode(column, empty_as_null=True)
    held = lists.filter(pl.col(column).is_not_null())
    values = held[column].to_numpy().copy()
    random = np.random.default_rng([seed, 1])
    moved = np.flatnonzero(random.random(len(values)) < percent / 100)
    values[moved] = values[random.permutation(moved)]
    again = (
        held.with_columns(pl.Series(column, values.tolist(), dtype=pl.String))
        .group_by("row", maintain_order=True)
        .agg(pl.col(column).unique(maintain_order=True))
    )
    whole = split.with_row_index("row").drop(column).join(again, on="row", how="left")
    empty = pl.lit([], dtype=pl.List(pl.String))
    filled = whole.sort("row").with_columns(pl.col(column).fill_null(empty))
    return filled.select(split.columns)


def label_noise_regime(pool: Pool, seed: int, percent: float) -> pl.DataFrame:
    """As random, but a share of the training and validation labels is replaced by other events."""
    split = random_regime(pool, seed)
    events = split["event"].to_list()
    known = sorted({event for event in events if event is not None})
    random = np.random.default_rng([seed, 2])
    learned = (split["split"].is_in(["train", "val"]) & split["event"].is_not_null()).to_numpy()
    for row in np.flatnonzero(learned & (random.random(len(learned)) < percent / 100)):
        others = [event for event in known if event != events[row]]
        events[row] = others[random.integers(len(others))]
    return split.with_columns(pl.Series("event", events, dtype=pl.String))


def unseen_event_regime(pool: Pool, seed: int) -> pl.DataFrame:
    """As random, but nothing of one event is there before it is tested: the seed says which.

    Seed 0 leaves out the largest event, 1 the next, and so on round and round.
    """
    events = by_size(pool.messages)["event"].to_list()
    left_out = events[seed % len(events)]
    split = random_regime(pool, seed)
    learned = (pl.col("event") == left_out) & (pl.col("split") != "test")
    return split.filter(~learned.fill_null(False))


def duplicate_aware_regime(pool: Pool, seed: int) -> pl.DataFrame:
    """As random, but of near-duplicate messages only the first is there at all."""
    _, first = np.unique(pool.groups, return_index=True)
    return random_regime(pool.taken(np.sort(first)), seed)


def _validating(pool: Pool, seed: int) -> Bools:
    """Draw the validation messages of each event; no copy of one is left to train on."""
    order = _untested(pool, seed)
    wanted = (pl.len() * VALIDATION_SHARE).round().cast(pl.Int64).clip(1, MOST_VALIDATION)
    # An event of one or two messages has none to spare.
    wanted = pl.when(pl.len() >= 3).then(wanted).otherwise(0)
    quota = order.group_by("event").agg(val=wanted, test=pl.lit(0, pl.Int64))
    parts = assign_groups(order, pool.groups[order["row"].to_numpy()], quota)
    validating = np.zeros(len(pool.tested), dtype=bool)
    validating[parts.filter(pl.col("part") == "val")["row"].to_numpy()] = True
    return validating


def _untested(pool: Pool, seed: int) -> pl.DataFrame:
    """Return ``row, event`` of the labelled messages to learn from, in an order of the seed."""
    order = shuffled(pool.messages, seed).select("row", "event")
    return order.filter(~pl.Series(pool.tested[order["row"].to_numpy()]))


def _with_split(pool: Pool, validating: Bools) -> pl.DataFrame:
    messages, tested = pool.messages, pool.tested
    labelled = messages["event"].is_not_null().to_numpy()
    split = np.full(messages.height, "train", dtype=object)
    split[validating], split[tested], split[~labelled] = "val", "test", None
    frame = messages.with_columns(pl.Series("split", split.tolist(), dtype=pl.String))
    # An unlabelled message that is locked is neither tested nor learned from.
    return frame.filter(pl.Series(labelled | ~tested))
