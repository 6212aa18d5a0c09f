"""Encoders given in Python: an object that keeps the protocol, or a function of texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from inspect import getattr_static
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np

from eventide.errors import BadSetting, UnreadableSource
from eventide.features.encoders.text_encoder import (
    Encoder,
    State,
    TextEncoder,
    Vectors,
    not_fitted,
    text_column,
)

if TYPE_CHECKING:
    import polars as pl

PYTHON = "python"
"""What the name of such an encoder begins with in a saved model: no registry can make it."""

MEMBERS = ("name", "width", "fit", "encode", "state", "restore")
PROBES = ("flood in the valley", "the bridge at 5 is closed")
CLOSE = 1e-3

Function = Callable[[list[str]], Any]


def given_encoder(given: object) -> Encoder:
    """Return a fresh encoder from an object or a function; the one given is never changed."""
    if isinstance(given, type):
        raise BadSetting(
            f"the encoder is the class {given.__name__}, not an object of it",
            next_step=f"give encoder={given.__name__}(...)",
        )
    missing = _missing(given)
    if not missing:
        return cast(Encoder, deepcopy(given))
    half = "encode" not in missing
    if half or not callable(given):
        whole = f"an object with {', '.join(MEMBERS)}, or a function of a list of texts"
        raise BadSetting(
            f"no encoder: {type(given).__name__} has no {', '.join(missing)}",
            next_step=f"give a name, {whole}{', its method encode perhaps' if half else ''}",
        )
    return CallableEncoder(given)


def given_name(given: object) -> str:
    """Return the name that ``given_encoder`` would give it, without copying anything."""
    return str(given.name) if not _missing(given) else given_encoder(given).name  # type: ignore[attr-defined]


def _missing(given: object) -> list[str]:
    """Name the members it lacks; a property that must be fitted first is not asked."""
    return [member for member in MEMBERS if getattr_static(given, member, MEMBERS) is MEMBERS]


class CallableEncoder(TextEncoder):
    """A function that turns a list of texts into an array [texts, width].

    A text's vector must depend on that text alone; ``fit`` tries it. A saved model keeps what the
    function says of two sentences, and knows by them whether it is handed the same function again.
    """

    def __init__(self, function: Function) -> None:
        named = getattr(function, "__qualname__", type(function).__qualname__)
        super().__init__(f"{PYTHON}:{named}")
        self._function = function
        self._width: int | None = None

    @property
    def width(self) -> int:
        """Values per message, as seen by ``fit``."""
        if self._width is None:
            raise not_fitted(self.name)
        return self._width

    def fit(self, messages: pl.DataFrame) -> Self:
        """Take the width from the first messages, and see that the function repeats itself."""
        self._width = None
        texts = [*text_column(messages.head(3)).to_list(), PROBES[0]]
        together, alone = self.vectors(texts), self.vectors(texts[:1])
        if alone.shape[1:] != together.shape[1:] or not _close(alone[0], together[0]):
            raise BadSetting(
                f"the encoder {self.name!r} gives the same text another vector when it is asked "
                "again, or asked with others",
                next_step="give a function whose vector of a text depends on that text alone",
            )
        self._width = together.shape[1]
        return self

    def vectors(self, texts: list[str]) -> Vectors:
        """Call the function, and see that it gave one row of numbers per text."""
        try:
            found = self._function(texts)
        except Exception as error:  # the caller's own code
            raise BadSetting(
                f"the encoder {self.name!r} failed: {type(error).__name__}: {error}",
                next_step="call it with a list of texts yourself to see why",
            ) from error
        found = found.detach().cpu() if hasattr(found, "detach") else found  # a torch tensor
        try:
            vectors: Vectors = np.asarray(found, dtype=np.float32)
        except (TypeError, ValueError):
            raise self._odd(texts, type(found).__name__) from None
        wide = vectors.ndim == 2 and len(vectors) == len(texts) and vectors.shape[1] > 0
        if not wide or (self._width is not None and vectors.shape[1] != self._width):
            raise self._odd(texts, f"an array of shape {vectors.shape}")
        return vectors

    def _odd(self, texts: Sequence[str], found: str) -> BadSetting:
        width = "width" if self._width is None else self._width
        return BadSetting(
            f"the encoder {self.name!r} gave {found} for {len(texts)} texts",
            next_step=f"give a function that returns numbers of shape [{len(texts)}, {width}]",
        )

    def state(self) -> State:
        """The width, and what the function says of two sentences."""
        return State({"probes": self.vectors(list(PROBES))}, {"width": self.width})

    def restore(self, state: State) -> Self:
        """Check that this is the function the model was trained with."""
        probes = state.arrays.get("probes")
        self._width = None
        here = self.vectors(list(PROBES))
        if probes is None or probes.shape != here.shape or not _close(probes, here):
            raise UnreadableSource(
                f"the model was trained with another function than {self.name!r}: it gives other "
                "vectors",
                next_step="give the function the model was trained with, or train again",
            )
        self._width = here.shape[1]
        return self


def _close(one: Vectors, other: Vectors) -> bool:
    return bool(np.allclose(one, other, rtol=CLOSE, atol=CLOSE, equal_nan=True))
