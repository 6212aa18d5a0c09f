"""What callers give and get back: their kinds of frames, and the weights of their messages."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eventide.errors import InputError


class PandasKind(Protocol):
    """A frame or series of pandas, which need not be installed."""

    @property
    def iloc(self) -> Any:
        """Rows by their place; nothing else has such an attribute."""


class ArrowKind(Protocol):
    """A table or array of Arrow, which need not be installed."""

    def to_pylist(self) -> list[Any]:
        """Everything as plain Python."""


def label_weights(weights: Any, labelled: pl.Series) -> NDArray[np.float64] | None:
    """Return the weights of the labelled messages, if there are any."""
    if weights is None:
        return None
    try:
        found = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.zeros(0)
    if found.shape != (len(labelled),) or not (np.isfinite(found) & (found >= 0)).all():
        raise InputError(
            f"sample_weight must hold one number per message, {len(labelled):,} in all",
            next_step="give finite numbers that are not negative",
        )
    kept: NDArray[np.float64] = found[labelled.to_numpy()]
    if not kept.sum() > 0:
        raise InputError(
            "every labelled message has the weight 0", next_step="give one of them some weight"
        )
    return kept


def in_kind(messages: Any, frame: pl.DataFrame) -> Any:
    """Turn a frame into the kind that ``messages`` are."""
    maker = type(messages).__module__.partition(".")[0]
    if maker == "pandas":
        found = frame.to_pandas()
        if hasattr(messages, "index"):
            found.index = messages.index
        return found
    return frame.to_arrow() if maker == "pyarrow" else frame
