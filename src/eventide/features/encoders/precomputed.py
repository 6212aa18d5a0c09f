"""``precomputed``: vectors the user brings in the column ``vector``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np

from eventide.errors import InputError, MissingColumn, UnreadableSource
from eventide.features.encoders.text_encoder import State, Vectors, finite, no_argument, not_fitted

if TYPE_CHECKING:
    import polars as pl


class Precomputed:
    """The ``vector`` column as it is; ``fit`` fixes the width that later messages must have."""

    def __init__(self, argument: str | None = None) -> None:
        no_argument("precomputed", argument)
        self.name = "precomputed"
        self._width: int | None = None

    @property
    def width(self) -> int:
        """Values per message, as seen by ``fit``."""
        if self._width is None:
            raise not_fitted(self.name)
        return self._width

    def fit(self, messages: pl.DataFrame) -> Self:
        """Take the width from the first message and check every vector."""
        column = _column(messages)
        if column.is_empty() or column[0] is None or not len(column[0]):
            raise InputError(
                "the width of precomputed vectors is unknown: the first message has none",
                next_step="give every message a vector, or use another encoder",
            )
        self._width = len(column[0])
        self.encode(messages)
        return self

    def encode(self, messages: pl.DataFrame) -> Vectors:
        """Return the given vectors; one that is absent, of another width or not finite is named."""
        import polars as pl

        column = _column(messages)
        wrong = (column.list.len() != self.width).fill_null(True).to_numpy()
        if wrong.any():
            row = int(np.argmax(wrong))
            found = (
                "no vector" if column[row] is None else f"a vector of {len(column[row])} numbers"
            )
            identity = messages["id"][row] if "id" in messages.columns else f"row {row}"
            raise InputError(
                f"expected vectors of {self.width} numbers, found {found}",
                where=f"message {identity} ({int(wrong.sum())} such messages)",
                next_step="give every message a vector made in the same way",
            )
        flat = column.list.explode(empty_as_null=False).cast(pl.Float32).to_numpy()
        flat = np.where(np.isnan(flat), np.float32(np.nan), flat)
        return finite(flat.reshape(len(column), self.width), messages, self.name)

    def state(self) -> State:
        """The width."""
        return State({}, {"width": self.width})

    def restore(self, state: State) -> Self:
        """Take over the width of a stored model."""
        width = state.facts.get("width")
        if type(width) is not int or width < 1:
            raise UnreadableSource(
                f"the stored width of precomputed vectors is {width!r}",
                next_step="the model is damaged: train again",
            )
        self._width = width
        return self


def _column(messages: pl.DataFrame) -> pl.Series:
    if "vector" not in messages.columns:
        raise MissingColumn(
            "the encoder 'precomputed' needs the column `vector`",
            where=f"found: {', '.join(messages.columns)}",
            next_step="map it (--column vector=NAME) or choose another encoder",
        )
    return messages["vector"]
