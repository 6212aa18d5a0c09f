"""The type of the registered datasets: their description, and how to collect their messages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import polars as pl


@dataclass(frozen=True)
class Collected:
    """Messages of a dataset in the canonical schema (plus ``label``), and notes for the user."""

    messages: pl.DataFrame
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class TrainingFacts:
    """Training counts stated in a paper, to compare with a build."""

    messages: int
    largest: int
    smallest: int

    def compared(self, training: pl.Series) -> str:
        """Write expected and actual training counts in one line.

        >>> TrainingFacts(30, 20, 10).compared(pl.Series([20, 9]))
        'the paper: 30 messages in training (largest event 20, smallest 10); got 29 (20, 9)'
        """
        counts = [int(count) for count in training]
        found = sum(counts), max(counts, default=0), min(counts, default=0)
        return (
            f"the paper: {self.messages:,} messages in training (largest event {self.largest:,}, "
            f"smallest {self.smallest:,}); got {found[0]:,} ({found[1]:,}, {found[2]:,})"
        )


@dataclass(frozen=True)
class Dataset:
    """A dataset that can be built: its size, where its source comes from, how it is collected.

    ``messages`` is None if the size depends on how much of the source is still available.
    """

    name: str
    messages: int | None
    events: int
    source: str
    obtain: str
    collect: Callable[[Path], Collected]
    paper: TrainingFacts | None = None
