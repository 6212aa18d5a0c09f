"""Messages made ready for learning: vectors, times, incidences and hashed names, nothing else.

A corpus is what a graph is built from and what a saved model remembers. What is saved holds no
text, no name and no element in clear: ids, texts, authors and elements are salted 128-bit hashes.
Whoever has the salt too can try out names, so that is pseudonymous, not anonymous.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Sized
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eventide.arrays import appended
from eventide.data.schema import read_part
from eventide.features.encoders import Encoder
from eventide.features.time_buckets import bucket_starts, time_buckets
from eventide.graphs.incidence import Incidence
from eventide.graphs.incidence import joined as joined_incidence
from eventide.graphs.keys import KEY_BYTES, Keys, element_keys
from eventide.graphs.settings import GraphSettings
from eventide.graphs.views import View, incidence

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Corpus:
    """N messages, ready: ``features`` [N, width], ``times`` [N], one incidence per view."""

    features: NDArray[np.float32]
    times: Ints
    incidences: dict[str, Incidence]
    ids: Keys
    texts: Keys
    users: Keys
    source: pl.DataFrame | None = None
    """The messages without their labels, for methods that read text; never saved."""
    timed: bool = True
    """Whether the messages have times of their own; else ``times`` were filled in for all."""

    def __len__(self) -> int:
        return len(self.times)

    def take(self, rows: Ints) -> Corpus:
        """Return these messages alone, in this order."""
        return Corpus(
            self.features[rows],
            self.times[rows],
            {name: each.take(rows) for name, each in self.incidences.items()},
            self.ids[rows],
            self.texts[rows],
            self.users[rows],
            None if self.source is None else self.source[rows],
            self.timed,
        )

    def joined(self, other: Corpus) -> Corpus:
        """Return these messages and, after them, those of ``other`` with the same views."""
        sources = [each.source for each in (self, other) if each.source is not None]
        return Corpus(
            appended(self.features, other.features),
            appended(self.times, other.times),
            {
                view: joined_incidence(each, other.incidences[view])
                for view, each in self.incidences.items()
            },
            appended(self.ids, other.ids),
            appended(self.texts, other.texts),
            appended(self.users, other.users),
            pl.concat(sources, how="diagonal_relaxed") if len(sources) == 2 else None,
            self.timed and other.timed,
        )

    def compact(self) -> Corpus:
        """Return the same corpus without elements that no message has."""
        return replace(
            self, incidences={name: each.compact() for name, each in self.incidences.items()}
        )

    def state(self) -> dict[str, NDArray[Any]]:
        """Return arrays that ``from_state`` turns into this corpus again."""
        arrays: dict[str, NDArray[Any]] = {
            "features": self.features,
            "times": self.times,
            "ids": _bytes(self.ids),
            "texts": _bytes(self.texts),
            "users": _bytes(self.users),
        }
        for name, each in self.incidences.items():
            arrays[f"view.{name}.pointers"] = each.pointers
            arrays[f"view.{name}.elements"] = each.elements
            arrays[f"view.{name}.keys"] = _bytes(each.keys)
        return arrays

    @classmethod
    def from_state(cls, arrays: Mapping[str, NDArray[Any]], views: Sequence[View]) -> Corpus:
        """Rebuild a corpus from ``state``; raise ValueError if the arrays do not fit together."""
        corpus = cls(
            arrays["features"],
            arrays["times"],
            {
                view.name: Incidence(
                    arrays[f"view.{view.name}.pointers"],
                    arrays[f"view.{view.name}.elements"],
                    _keys(arrays[f"view.{view.name}.keys"]),
                )
                for view in views
            },
            _keys(arrays["ids"]),
            _keys(arrays["texts"]),
            _keys(arrays["users"]),
        )
        corpus.check()
        return corpus

    def check(self) -> None:
        """Raise ValueError unless all arrays are of the same messages and point at elements."""
        parts: tuple[Sized, ...] = (
            self.features,
            self.ids,
            self.texts,
            self.users,
            *self.incidences.values(),
        )
        if self.features.ndim != 2 or any(len(part) != len(self) for part in parts):
            raise ValueError("the arrays of the memory are not of equally many messages")
        for view, each in self.incidences.items():
            pointers, elements = each.pointers, each.elements
            ascending = pointers[0] == 0 and (np.diff(pointers) >= 0).all()
            inside = ((elements >= 0) & (elements < len(each.keys))).all()
            if not (ascending and pointers[-1] == len(elements) and inside):
                raise ValueError(f"the elements of the view {view!r} are not those of its messages")


@dataclass(frozen=True)
class MessageKeys:
    """The salted hashes of messages' ids and texts, each [n]."""

    ids: Keys
    texts: Keys

    def take(self, rows: NDArray[Any]) -> MessageKeys:
        """Return those of some of the messages."""
        return MessageKeys(self.ids[rows], self.texts[rows])


@dataclass(frozen=True)
class Featuriser:
    """How messages become a corpus: the fitted encoder, the views, the clock and the salt."""

    encoder: Encoder
    views: tuple[View, ...]
    graph: GraphSettings
    salt: bytes
    salt_apart: bool = False
    """Whether the salt is kept in a file of its own, and not with the model."""

    def keys(self, messages: pl.DataFrame) -> MessageKeys:
        """Hash the ids and texts of messages."""
        return MessageKeys(
            self.hashed("id", messages.get_column("id")),
            self.hashed("text", messages.get_column("text")),
        )

    def prepare(
        self, messages: pl.DataFrame, keys: MessageKeys | None = None, *, missing_time: int = 0
    ) -> Corpus:
        """Make ``messages`` (canonical, elements filled in) ready; ``keys`` are theirs, if made.

        Without any times they are all in the time bucket ``missing_time``.
        """
        keys = keys or self.keys(messages)
        unit, width = self.graph.time_unit, self.graph.bucket_width
        created = messages.get_column("created_at")
        times = time_buckets(created, unit, width, missing=missing_time)
        if created.null_count():  # methods that read the messages find a time there too
            known = pl.Series("created_at", bucket_starts(times, unit, width))
            messages = messages.with_columns(known.cast(created.dtype))
        return Corpus(
            features=self.encoder.encode(messages),
            times=times,
            incidences={view.name: incidence(messages, view, self.salt) for view in self.views},
            ids=keys.ids,
            texts=keys.texts,
            users=self.hashed("user", [user or "" for user in messages.get_column("user")]),
            source=messages.drop("event", "split").with_columns(read_part(messages["text"])),
            timed=created.null_count() < max(len(created), 1),
        )

    def hashed(self, kind: str, values: pl.Series | Sequence[str]) -> Keys:
        """Hash names with this model's salt, so that equal ones meet and none can be read."""
        return element_keys(kind, list(values), self.salt)


def _bytes(keys: Keys) -> NDArray[np.uint8]:
    return np.ascontiguousarray(keys).view(np.uint8).reshape(len(keys), KEY_BYTES)


def _keys(raw: NDArray[np.uint8]) -> Keys:
    return np.ascontiguousarray(raw).reshape(-1).view(f"S{KEY_BYTES}")
