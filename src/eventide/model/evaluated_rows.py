"""Which messages are evaluated, and what a model knows of them already.

Messages that a model was trained on say nothing about new ones, and those that chose its epoch
flatter it. So by default neither is evaluated where there are others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from eventide.errors import BadSetting, InputError
from eventide.model.inference import Mask, MemoryMatch
from eventide.registry import suggestion

if TYPE_CHECKING:
    from eventide.model.classifier import EventClassifier

ROWS = ("auto", "test", "val", "train", "unseen", "all")
"""What can be evaluated; see `evaluate_model`."""


@dataclass(frozen=True)
class Standing:
    """What a model knows of messages: where its memory holds them, trained on, validated with."""

    match: MemoryMatch
    trained: Mask
    validated: Mask | None

    @classmethod
    def of(cls, model: EventClassifier, frame: pl.DataFrame) -> Standing:
        """Look the messages up; one with another text than the model knows is a new one."""
        match = model.inference.match(frame)
        validated = None
        if model.validated_ is not None:
            validated = model.validated_.has(match.keys.ids) & ~match.edited
        return cls(match, (match.rows >= 0) & (model.labels_[match.rows] >= 0), validated)

    @property
    def unseen(self) -> Mask:
        """Those that neither taught the model nor chose its epoch, as far as it can tell."""
        return ~self.trained if self.validated is None else ~(self.trained | self.validated)

    def take(self, mask: Mask) -> Standing:
        """Return what is known of some of the messages."""
        validated = None if self.validated is None else self.validated[mask]
        return Standing(self.match.take(mask), self.trained[mask], validated)


def check_rows(rows: object) -> None:
    """Refuse a choice of rows that there is not, before anything is read.

    >>> check_rows("tset")
    Traceback (most recent call last):
    eventide.errors.BadSetting: rows cannot be 'tset'
      next:  did you mean 'test'? Known: auto, test, val, train, unseen, all
    """
    if rows not in ROWS:
        raise BadSetting(f"rows cannot be {rows!r}", next_step=suggestion(rows, ROWS))


def rows_to_evaluate(
    model: EventClassifier, labelled: pl.DataFrame, rows: str = "auto"
) -> tuple[str, Mask, Standing]:
    """Return which rows ``evaluate_model`` would take of labelled messages, and what it knows."""
    standing = Standing.of(model, labelled)
    rows, mask = _chosen(rows, labelled["split"], standing)
    return rows, mask, standing


def _chosen(rows: str, split: pl.Series, standing: Standing) -> tuple[str, Mask]:
    """Say which rows are meant, and which messages they are."""
    masks = _masks(split, standing)
    if rows == "auto":
        rows = next((each for each in ("test", "unseen", "val") if masks[each].any()), rows)
    if rows == "auto":
        raise InputError(
            f"all {len(split):,} labelled messages were trained on: nothing is left to evaluate",
            where="columns event and split",
            next_step="give other messages; rows='train' (--rows train) evaluates these all "
            "the same, which says nothing about new ones",
        )
    if not masks[rows].any():
        found = ", ".join(f"{name} {int(each.sum()):,}" for name, each in masks.items())
        raise InputError(
            f"no labelled message to evaluate with rows={rows!r}",
            where="columns event and split",
            next_step=f"choose other rows (--rows); there are: {found}",
        )
    return rows, masks[rows]


def _masks(split: pl.Series, standing: Standing) -> dict[str, Mask]:
    """Find the messages of each choice; where no split is given, the model's memory says."""
    part = split.fill_null("").to_numpy().astype(object)
    part[(part == "") & standing.trained] = "train"
    if standing.validated is not None:
        part[(part == "") & standing.validated] = "val"
    masks = {name: np.asarray(part == name, dtype=bool) for name in ("test", "val", "train")}
    return masks | {"unseen": standing.unseen, "all": np.ones(len(split), dtype=bool)}
