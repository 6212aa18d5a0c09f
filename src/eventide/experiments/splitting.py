"""How a seed divides the messages; every variant of a seed gets the same division."""

from __future__ import annotations

from typing import Literal, TypeAlias

import polars as pl

from eventide.data.near_duplicates import near_duplicate_groups
from eventide.data.splits import (
    ClassTooSmall,
    Groups,
    chronological_split,
    per_class_split,
    proportional_split,
)
from eventide.errors import BadSetting, InputError
from eventide.registry import suggestion

SPLITS = {
    "random": "20 validation and 30 test messages of each event, drawn by the seed (the paper's)",
    "proportional": "a tenth and a fifth of each event, drawn by the seed",
    "duplicate-aware": "as random, but near-duplicate texts never stand on different sides",
    "chronological": "each event's earlier messages train, its later ones are assigned as new",
    "stored": "the column `split` as it is; seeds vary the first weights alone",
}
Small: TypeAlias = Literal["error", "train"]
PROTOCOLS = ("transductive", "inductive")
ONE_FOR_ALL = ("chronological", "stored")
"""Splits that no seed changes."""


def checked_protocol(split: str, protocol: str | None) -> str:
    """Return the protocol to use with a split; by time there is only one.

    >>> checked_protocol("chronological", None), checked_protocol("random", None)
    ('inductive', 'transductive')
    """
    if split not in SPLITS:
        raise BadSetting(f"there is no split {split!r}", next_step=suggestion(split, SPLITS))
    if protocol not in (None, *PROTOCOLS):
        raise BadSetting(
            f"there is no protocol {protocol!r}", next_step=suggestion(protocol, PROTOCOLS)
        )
    if split != "chronological":
        return protocol or "transductive"
    if protocol == "transductive":
        raise BadSetting(
            "a chronological split is inductive: later messages are not there while one trains",
            next_step="leave --protocol out, or choose another split",
        )
    return "inductive"


def copies(messages: pl.DataFrame, split: str) -> Groups:
    """Return the near-duplicate groups where the split needs them."""
    return near_duplicate_groups(messages["text"]) if split == "duplicate-aware" else None


def divided(
    messages: pl.DataFrame, split: str, seed: int, together: Groups, small: Small = "error"
) -> pl.DataFrame:
    """Return the messages with the column ``split`` filled as ``split`` and ``seed`` say.

    ``small`` "train" leaves events that are too small for the paper's counts in training.
    """
    if split == "chronological":
        return chronological_split(messages)
    if split == "proportional":
        return proportional_split(messages, seed=seed)
    if split != "stored":
        return _per_class(messages, seed, together, small)
    if not {"train", "test"} <= set(messages["split"].drop_nulls()):
        raise InputError(
            "the stored split has no training or no test messages",
            where="column split",
            next_step="choose --split random",
        )
    return messages


def _per_class(messages: pl.DataFrame, seed: int, together: Groups, small: Small) -> pl.DataFrame:
    try:
        return per_class_split(messages, seed=seed, keep_together=together, small=small)
    except ClassTooSmall as error:
        stored = bool(messages["split"].count()) if "split" in messages.columns else False
        also = ", or --split stored for the split that the messages have" if stored else ""
        raise ClassTooSmall(
            error.what, where=error.where, next_step=f"choose --split proportional{also}"
        ) from None
