"""Several encoders side by side, each scaled to unit length so that none drowns the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np

from eventide.arrays import unit_rows
from eventide.errors import UnreadableSource
from eventide.features.encoders.text_encoder import Encoder, State, Vectors

if TYPE_CHECKING:
    import polars as pl


class Joined:
    """The vectors of every part, L2-normalised and concatenated (``wordllama+tfidf-svd``)."""

    def __init__(self, parts: list[Encoder]) -> None:
        self.parts = parts
        self.name = "+".join(part.name for part in parts)

    @property
    def width(self) -> int:
        """The sum of the parts' widths."""
        return sum(part.width for part in self.parts)

    def fit(self, messages: pl.DataFrame) -> Self:
        """Fit every part on the same training messages."""
        for part in self.parts:
            part.fit(messages)
        return self

    def encode(self, messages: pl.DataFrame) -> Vectors:
        """Return the unit vectors of all parts side by side, ``[N, width]``."""
        return np.hstack([unit_rows(part.encode(messages)) for part in self.parts])

    def state(self) -> State:
        """The parts' states; an array's name opens with the number of its part."""
        arrays = {}
        facts = []
        for number, part in enumerate(self.parts):
            state = part.state()
            arrays.update({f"{number}.{key}": value for key, value in state.arrays.items()})
            facts.append({"name": part.name, **state.facts})
        return State(arrays, {"parts": list(facts)})

    def restore(self, state: State) -> Self:
        """Hand every part its share of the state."""
        stored = state.facts.get("parts")
        names = [part.name for part in self.parts]
        if not isinstance(stored, list) or len(stored) != len(self.parts):
            raise UnreadableSource(
                f"the stored state does not have the parts {' + '.join(names)}",
                next_step="the model is damaged: train again",
            )
        for number, (part, facts) in enumerate(zip(self.parts, stored, strict=True)):
            if not isinstance(facts, dict) or facts.get("name") != part.name:
                raise UnreadableSource(
                    f"part {number} of the stored state is not the encoder {part.name!r}",
                    next_step="load the model with the encoder it was trained with",
                )
            arrays = {
                key.removeprefix(f"{number}."): value
                for key, value in state.arrays.items()
                if key.startswith(f"{number}.")
            }
            part.restore(State(arrays, facts))
        return self
