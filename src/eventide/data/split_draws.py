"""Training, validation and test messages: the functions that draw a split.

Near-duplicates can be kept together: whole groups then go into one part of the split.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eventide.data.long_tail import by_size, shuffled
from eventide.errors import BadSetting, InputError

Groups: TypeAlias = NDArray[Any] | None
Small: TypeAlias = Literal["error", "train"]


def assign_groups(order: pl.DataFrame, groups: NDArray[Any], quota: pl.DataFrame) -> pl.DataFrame:
    """Give ``row, part`` for messages in a drawn ``order`` so that no group is divided.

    Groups are taken event by event in the drawn order while they fit what test, then validation,
    still lack (``quota``: event, val, test); if the lack cannot be met that way, the best
    combination of group sizes is searched. A group that spans several events goes to training:
    it would spend several quotas at once.
    """
    rows = order.with_columns(pl.Series("group", groups))
    whole = (
        rows.group_by("group", maintain_order=True)
        .agg(pl.col("event").first(), pl.col("event").n_unique().alias("events"), pl.len())
        .with_row_index("index")
    )
    parts = np.full(whole.height, "train", dtype=object)
    wanted = {
        event: (val, test) for event, val, test in quota.select("event", "val", "test").rows()
    }
    single = whole.filter(pl.col("events") == 1)
    for (event,), members in single.group_by("event", maintain_order=True):
        val, test = wanted[str(event)]
        index, sizes = members["index"].to_numpy(), members["len"].to_numpy()
        for part, lack in (("test", test), ("val", val)):
            chosen = choose_groups(sizes, lack)
            parts[index[chosen]] = part
            index, sizes = np.delete(index, chosen), np.delete(sizes, chosen)
    named = whole.select("group", pl.Series("part", parts.tolist(), dtype=pl.String))
    return rows.join(named, on="group", how="left", maintain_order="left").select("row", "part")


def choose_groups(sizes: NDArray[Any], target: int) -> NDArray[np.int64]:
    """Choose groups, earlier ones first, whose sizes add up to ``target`` or just less.

    >>> choose_groups(np.array([2, 5, 1, 1]), 4).tolist()
    [0, 2, 3]
    >>> choose_groups(np.array([2, 2, 3]), 3).tolist()  # greed would stop at 2
    [2]
    """
    chosen, lack = [], target
    for index, size in enumerate(sizes.tolist()):
        if lack == 0:
            break
        if size <= lack:
            chosen.append(index)
            lack -= size
    if lack:
        chosen = _best_combination(sizes.tolist(), target)
    return np.array(chosen, dtype=np.int64)


def _best_combination(sizes: list[int], target: int) -> list[int]:
    """Search all sums up to ``target``; bit s of a number says that the sum s can be reached."""
    limit = (1 << (target + 1)) - 1
    reached = [1]
    for size in sizes:
        reached.append(reached[-1] | (reached[-1] << size) & limit)
    total = reached[-1].bit_length() - 1
    chosen = []
    for index in range(len(sizes) - 1, -1, -1):
        if not reached[index] >> total & 1:
            chosen.append(index)
            total -= sizes[index]
    return chosen[::-1]


class ClassTooSmall(InputError):
    """An event has too few messages for the validation and test counts asked for."""


def per_class_split(
    messages: pl.DataFrame,
    validation: int = 20,
    test: int = 30,
    seed: int = 0,
    *,
    keep_together: Groups = None,
    small: Small = "error",
) -> pl.DataFrame:
    """Draw a fixed number of validation and test messages of each event, as the paper does.

    An event needs at least ``validation + test + 1`` messages, so that something is left to train
    on. A smaller one is an error that names it, or with ``small="train"`` goes to training whole.

    >>> frame = pl.DataFrame({"id": list("abcd"), "event": ["fire"] * 4})
    >>> per_class_split(frame, validation=1, test=2)["split"].sort().to_list()
    ['test', 'test', 'train', 'val']
    """
    if validation < 0 or test < 0:
        raise BadSetting(f"counts cannot be negative: validation={validation}, test={test}")
    needed = validation + test + 1
    sizes = by_size(messages)
    too_small = sizes.filter(pl.col("size") < needed)
    if too_small.height and small == "error":
        named = ", ".join(f"{event!r} ({size})" for _, event, size in too_small.head(5).rows())
        raise ClassTooSmall(
            f"{too_small.height} events have too few messages for {validation} validation and "
            f"{test} test messages each: {named}{', ...' if too_small.height > 5 else ''}",
            where="column event",
            next_step=f"drop events under {needed} messages, ask for fewer, keep them in training "
            "with small='train', or use a proportional split",
        )
    fits = pl.col("size") >= needed
    quota = sizes.select(
        "event",
        pl.when(fits).then(validation).otherwise(0).alias("val"),
        pl.when(fits).then(test).otherwise(0).alias("test"),
    )
    return _draw(messages, quota, seed, keep_together)


def proportional_split(
    messages: pl.DataFrame,
    validation: float = 0.1,
    test: float = 0.2,
    seed: int = 0,
    *,
    keep_together: Groups = None,
) -> pl.DataFrame:
    """Draw the same share of each event for validation and for test.

    Counts are rounded, but an event of at least 3 messages gives at least one to each part asked
    for and keeps at least one for training; smaller events go to training whole.
    """
    return _draw(messages, _shares(messages, validation, test), seed, keep_together)


def chronological_split(
    messages: pl.DataFrame,
    validation: float = 0.1,
    test: float = 0.2,
    *,
    keep_together: Groups = None,
) -> pl.DataFrame:
    """Train on each event's earlier messages; the later ones are validation, the last ones test.

    Counts as in `proportional_split`. With ``keep_together`` a group goes where its earliest
    message goes: a copy of a training message is not new. No randomness is involved.
    """
    labelled = messages.drop_nulls("event")
    untimed = labelled.filter(pl.col("created_at").is_null())
    if untimed.height:
        raise InputError(
            f"{untimed.height} labelled messages have no time, the first with id "
            f"{untimed['id'][0]!r}",
            where="column created_at",
            next_step="give their times, or choose a split that is not by time",
        )
    quota = _shares(messages, validation, test)
    newest_first = (
        messages.select("id", "event", "created_at")
        .with_row_index("row")
        .drop_nulls("event")
        .sort("created_at", "id", descending=True, maintain_order=True)
    )
    parts = _by_rank(newest_first, quota)
    if keep_together is not None:
        parts = parts.with_columns(
            pl.Series("group", _checked(keep_together, messages)[parts["row"].to_numpy()])
        ).with_columns(pl.col("part").last().over("group"))
    return _filled(messages, parts)


def stored_split(messages: pl.DataFrame) -> pl.DataFrame:
    """Take the column ``split`` as it is; it must have training and test messages."""
    if not {"train", "test"} <= set(messages["split"].drop_nulls()):
        raise InputError(
            "the stored split has no training or no test messages",
            where="column split",
            next_step="choose --split random",
        )
    return messages


def _shares(messages: pl.DataFrame, validation: float, test: float) -> pl.DataFrame:
    if not (validation >= 0 and test >= 0 and validation + test < 1):
        raise BadSetting(
            f"shares must not be negative and must leave something to train on: "
            f"validation={validation}, test={test}"
        )
    size = pl.col("size")

    def count(share: float) -> pl.Expr:
        rounded = (size * share + 0.5).floor().cast(pl.Int64).clip(1 if share > 0 else 0)
        return pl.when(size >= 3).then(rounded).otherwise(0)

    quota = by_size(messages).select("event", "size", val=count(validation), test=count(test))
    # Rounding up twice can take everything from a small event; the larger part gives one back.
    over = (pl.col("val") + pl.col("test") - size + 1).clip(0)
    gives = pl.col("test") >= pl.col("val")
    return quota.select(
        "event",
        val=pl.col("val") - pl.when(gives).then(0).otherwise(over),
        test=pl.col("test") - pl.when(gives).then(over).otherwise(0),
    )


def _draw(messages: pl.DataFrame, quota: pl.DataFrame, seed: int, groups: Groups) -> pl.DataFrame:
    order = shuffled(messages, seed)
    if groups is None:
        return _filled(messages, _by_rank(order, quota))
    together = _checked(groups, messages)[order["row"].to_numpy()]
    return _filled(messages, assign_groups(order, together, quota))


def _by_rank(order: pl.DataFrame, quota: pl.DataFrame) -> pl.DataFrame:
    """Give the first messages of each event in ``order`` to test, the next to validation."""
    rank = pl.int_range(pl.len()).over("event")
    return order.join(quota, on="event", how="left", maintain_order="left").select(
        "row",
        pl.when(rank < pl.col("test"))
        .then(pl.lit("test"))
        .when(rank < pl.col("test") + pl.col("val"))
        .then(pl.lit("val"))
        .otherwise(pl.lit("train"))
        .alias("part"),
    )


def _filled(messages: pl.DataFrame, parts: pl.DataFrame) -> pl.DataFrame:
    column = np.full(messages.height, None, dtype=object)
    column[parts["row"].to_numpy()] = parts["part"].to_numpy()
    return messages.with_columns(pl.Series("split", column.tolist(), dtype=pl.String))


def _checked(groups: NDArray[Any], messages: pl.DataFrame) -> NDArray[Any]:
    groups = np.asarray(groups)
    if groups.shape != (messages.height,):
        raise BadSetting(
            f"keep_together needs one group id for each of the {messages.height} messages, "
            f"got shape {groups.shape}"
        )
    return groups
