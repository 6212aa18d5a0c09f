"""What every encoder is: fit on training text, encode messages, give and take back its state."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from eventide.errors import BadSetting, EventideError, MissingColumn, UnreadableSource
from eventide.features.parallel import side_by_side
from eventide.progress import track

if TYPE_CHECKING:
    import polars as pl
import hashlib
from collections.abc import Iterable
from pathlib import Path

Json: TypeAlias = str | int | float | bool | list["Json"] | dict[str, "Json"] | None
Vectors: TypeAlias = npt.NDArray[np.float32]


class State(NamedTuple):
    """What a model artefact keeps of an encoder: arrays (safetensors) and facts (JSON)."""

    arrays: dict[str, npt.NDArray[Any]]
    facts: dict[str, Json]


class Encoder(Protocol):
    """Turns messages into vectors of ``width`` values, one row per message, in their order."""

    @property
    def name(self) -> str:
        """The specification that makes this encoder again: ``encoder(name)``."""

    @property
    def width(self) -> int:
        """Values per message; known after ``fit``."""

    def fit(self, messages: pl.DataFrame) -> Self:
        """Learn from training messages (never from their labels); fixed encoders only check."""

    def encode(self, messages: pl.DataFrame) -> Vectors:
        """Return finite float32 vectors ``[N, width]``; a row depends on its own message only."""

    def state(self) -> State:
        """Everything ``restore`` needs to encode the same way in another process."""

    def restore(self, state: State) -> Self:
        """Take over a state that ``state`` gave, after checking that it fits this encoder."""


class TextEncoder(ABC):
    """Shared part of the encoders that read the ``text`` column: batches, progress, checks.

    A subclass gives ``vectors(texts)``. Text without a letter or digit (empty, emoji only) gets the
    zero vector: what a model makes of it is noise.
    """

    batch_size = 4096
    many_threads = False
    """Whether ``vectors`` leaves Python's lock alone, and the other cores too."""

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    @abstractmethod
    def width(self) -> int:
        """Values per message; known after ``fit``."""

    @abstractmethod
    def vectors(self, texts: list[str]) -> Vectors:
        """Encode one batch of texts that all hold a letter or digit."""

    def fit(self, messages: pl.DataFrame) -> Self:
        """Nothing to learn: the vectors of this encoder are fixed."""
        return self

    def encode(self, messages: pl.DataFrame) -> Vectors:
        """Return finite float32 vectors ``[N, width]`` in the order of ``messages``."""
        texts = text_column(messages)
        worded = _worded(texts)
        found = np.zeros((len(texts), self.width), dtype=np.float32)
        starts = range(self.batch_size, len(worded), self.batch_size)
        batches = np.split(worded, starts) if len(worded) else []
        done = (side_by_side if self.many_threads else map)(
            lambda rows: self.vectors(_some(texts, rows)), batches
        )
        pairs = zip(batches, done, strict=True)
        for rows, vectors in track(pairs, f"encoding with {self.name}", total=len(batches)):
            found[rows] = vectors
        return finite(found, messages, self.name)

    def state(self) -> State:
        """Nothing but the width: the vectors are fixed; a subclass adds a fingerprint."""
        return State({}, {"width": self.width})

    def restore(self, state: State) -> Self:
        """Check that this installation gives the vectors the state was made with."""
        check_facts(self.state().facts, state, self.name)
        return self


def text_column(messages: pl.DataFrame) -> pl.Series:
    """Return what is read of the texts, null as empty, or say that the column is missing."""
    if "text" not in messages.columns:
        raise MissingColumn(
            "encoding needs the column `text`",
            where=f"found: {', '.join(messages.columns)}",
            next_step="map it (--column text=NAME) or use the encoder 'precomputed'",
        )
    from eventide.data.schema import read_part  # here, for listing encoders needs no polars

    texts = read_part(messages["text"])
    return texts.fill_null("") if texts.null_count() else texts


def _worded(texts: pl.Series) -> npt.NDArray[np.intp]:
    """Which texts hold a letter or digit of any script."""
    return np.flatnonzero([any(map(str.isalnum, text)) for text in texts.to_list()])


def _some(texts: pl.Series, rows: npt.NDArray[np.intp]) -> list[str]:
    return (texts if len(rows) == len(texts) else texts.gather(rows)).to_list()


LARGEST = 1e18
"""Squares of larger numbers leave single precision, and every product with them is lost."""


def finite(vectors: Vectors, messages: pl.DataFrame, name: str) -> Vectors:
    """Return ``vectors`` unchanged, or name the first message whose vector cannot be used."""
    # NaN is not below anything
    good = np.abs(vectors).max(axis=1, initial=0) <= LARGEST
    if not good.all():
        row = int(np.argmin(good))
        identity = messages["id"][row] if "id" in messages.columns else f"row {row}"
        raise UnreadableSource(
            f"the encoder {name!r} gives a vector with NaN, infinity or a number above {LARGEST:g}",
            where=f"message {identity}",
            next_step="remove the message, or check and scale the encoder's vectors",
        )
    return vectors


def check_facts(expected: dict[str, Json], state: State, name: str) -> None:
    """Compare the facts of a stored state with this installation's; differing ones are an error."""
    for key, value in expected.items():
        if state.facts.get(key) != value:
            raise UnreadableSource(
                f"the model was made with another {name!r} encoder: its {key} is "
                f"{state.facts.get(key)!r}, here it is {value!r}",
                next_step="use the version or file the model was trained with, or train again",
            )


def required(state: State, key: str, name: str, dtype: type[np.generic]) -> npt.NDArray[Any]:
    """Return an array of a stored state, or say that it is missing or of another type."""
    found = state.arrays.get(key)
    if found is None or found.dtype != np.dtype(dtype):
        raise damaged(name, f"no array {key!r} of {dtype.__name__}")
    return found


def damaged(name: str, why: str = "arrays that do not fit together") -> UnreadableSource:
    """The error of a stored state that cannot be what ``state`` gave."""
    return UnreadableSource(
        f"the stored state of the encoder {name!r} has {why}",
        next_step="the model is damaged: train again",
    )


def not_fitted(name: str) -> EventideError:
    """The error of an encoder used before it has learned anything."""
    return EventideError(
        f"the encoder {name!r} has not been fitted", next_step="call fit(training messages) first"
    )


def no_argument(name: str, argument: str | None) -> None:
    """Refuse an argument that the encoder ``name`` does not take."""
    if argument is not None:
        raise BadSetting(
            f"the encoder {name!r} takes no argument, got {argument!r}", next_step=f"write {name}"
        )


def whole_number(name: str, argument: str | None, default: int) -> int:
    """Read an argument such as the 128 of ``tfidf-svd:128``."""
    if argument is None:
        return default
    if not (argument.isascii() and argument.isdigit() and 1 <= int(argument) <= 65_536):
        raise BadSetting(
            f"the width of {name!r} must be a whole number from 1 to 65536, got {argument!r}",
            next_step=f"write for example {name}:{default}",
        )
    return int(argument)


def fingerprint(arrays: Iterable[npt.NDArray[Any]]) -> str:
    """Return the sha256 of the arrays' shapes, types and bytes.

    >>> fingerprint([np.zeros(2)]) == fingerprint([np.zeros((1, 2))])
    False
    """
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(f"{array.shape}{array.dtype.str}".encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def file_fingerprint(path: Path) -> str:
    """Return the sha256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
