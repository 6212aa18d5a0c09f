"""Who chose the epoch: a model remembers its validation messages, by salted hashes alone.

An evaluation must not take them for messages the model has never met.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eventide.corpus.training_set import TrainingSet
from eventide.graphs.keys import KEY_BYTES, KeyIndex, Keys

ARRAY = "validation"
"""Its name among the arrays of a saved memory."""


@dataclass(frozen=True)
class ValidationIds:
    """Hashed ids and authors of the messages that chose the best epoch."""

    ids: Keys
    users: Keys

    @classmethod
    def of(cls, training_set: TrainingSet) -> ValidationIds:
        """Take them from a training set, whether they are in its graph or beside it."""
        validation = training_set.validation
        if validation.corpus is not None:
            return cls(validation.corpus.ids, validation.corpus.users)
        rows = np.zeros(0, dtype=np.int64) if validation.rows is None else validation.rows
        return cls(training_set.corpus.ids[rows], training_set.corpus.users[rows])

    def __len__(self) -> int:
        return len(self.ids)

    def has(self, ids: Keys) -> NDArray[np.bool_]:
        """Tell which of these messages chose the epoch."""
        return np.isin(ids, self.ids)

    def find(self, ids: Keys) -> NDArray[np.int64]:
        """Return which of the validation messages each message is, -1 where it is none."""
        return KeyIndex(self.ids).find(ids)

    def others(self, ids: Keys, users: Keys) -> NDArray[np.bool_]:
        """Tell which messages stay when some are forgotten by id or author."""
        return ~(np.isin(self.ids, ids) | np.isin(self.users, users))

    def take(self, rows: NDArray[np.bool_]) -> ValidationIds:
        """Return some of them."""
        return ValidationIds(self.ids[rows], self.users[rows])

    def state(self) -> dict[str, NDArray[np.uint8]]:
        """Return one array that ``from_state`` reads back."""
        joined = np.stack([self.ids, self.users], axis=1)
        raw = np.ascontiguousarray(joined).view(np.uint8)
        return {ARRAY: raw.reshape(len(self), 2 * KEY_BYTES)}

    @classmethod
    def from_state(cls, arrays: Mapping[str, NDArray[Any]]) -> ValidationIds | None:
        """Read what ``state`` gave; None for a model that was saved before there was any."""
        raw = arrays.get(ARRAY)
        if raw is None:
            return None
        keys = np.ascontiguousarray(raw).reshape(-1).view(f"S{KEY_BYTES}").reshape(-1, 2)
        return cls(keys[:, 0], keys[:, 1])
