"""The model that answers now, and opinions as the store keeps them.

A reload puts another model in its place at once: whoever asks before gets the old one's answer.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import polars as pl

from eventide.corpus.messages import Messages
from eventide.data import Intake
from eventide.data.schema import LIST_COLUMNS, REJECTED, schema_with
from eventide.model import EventClassifier, load_model
from eventide.serving.priority import class_rarity, priority
from eventide.storage import expanded

REVIEW_DOUBT = 0.5
"""Doubt from which on a message is to be reviewed, where the model gives no verdict of its own."""

Row = dict[str, Any]


@dataclass(frozen=True)
class LoadedModel:
    """A model as it was read from its folder; ``version`` is a hash of its manifest."""

    classifier: EventClassifier
    version: str

    @cached_property
    def class_counts(self) -> dict[str, int]:
        """Training messages of each event."""
        names = self.classifier.class_names.tolist()
        labels = self.classifier.labels_
        counts = np.bincount(labels[labels >= 0], minlength=len(names))
        return dict(zip(names, counts.tolist(), strict=True))

    @cached_property
    def rarity(self) -> dict[str, float]:
        """How rare each event is among the training messages, from 0 to 1."""
        return class_rarity(self.class_counts)

    @cached_property
    def encoder_mark(self) -> bytes:
        """A hash of what the encoder has learned: vectors of two models compare if it is equal."""
        state = self.classifier.featuriser_.encoder.state()
        digest = hashlib.sha256(json.dumps(state.facts, sort_keys=True).encode())
        for name, array in sorted(state.arrays.items()):
            digest.update(name.encode() + np.ascontiguousarray(array).tobytes())
        return digest.digest()[:8]

    def opinions(self, messages: Sequence[Mapping[str, Any]]) -> list[Row]:
        """Return the columns of an opinion for each message (id, text, created_at, author, lists).

        Messages with and without a time are asked apart: the model wants all or none to have one.
        """
        rows: list[Row | None] = [None] * len(messages)
        for timed in (True, False):
            own = [at for at, each in enumerate(messages) if (each["created_at"] is None) != timed]
            if own:
                frame = self.classifier.opinions(self.intake([messages[at] for at in own]))
                for at, said in zip(own, frame.iter_rows(named=True), strict=True):
                    rows[at] = self._columns(said)
        return [row for row in rows if row is not None]

    def frame(self, messages: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
        """Lay stored messages out for the model, elements filled in."""
        return self.intake(messages).messages

    def intake(self, messages: Sequence[Mapping[str, Any]]) -> Messages:
        """Lay checked messages out as reading would have."""
        kinds = schema_with(self.classifier.list_columns())
        records = [
            {
                "id": each["id"],
                "text": each["text"],
                "created_at": each["created_at"],
                "user": each["author"],
                **{name: json.loads(each["elements"]).get(name) for name in LIST_COLUMNS},
            }
            for each in messages
        ]
        frame = pl.from_dicts(records, schema=kinds)
        intake = Intake(frame, pl.DataFrame(schema=REJECTED), len(frame))
        return Messages.of(intake, entities=self.classifier.entities)

    def _columns(self, said: Row) -> Row:
        """Turn a row of ``opinions()`` into columns of the store.

        What the model does not say yet is filled in here: doubt is 1 - probability, and a verdict
        comes from doubt alone.
        """
        probability = float(said["probability"])
        doubt = float(said.get("doubt", 1 - probability))
        vacuity = float(said["vacuity"] if "vacuity" in said else said["uncertainty"])
        verdict = said.get("verdict") or ("review" if doubt >= REVIEW_DOUBT else "known")
        views = {
            name.removeprefix("event_"): {
                "event": str(value),
                "uncertainty": float(said[f"uncertainty_{name.removeprefix('event_')}"]),
                "neighbours": int(said[f"neighbours_{name.removeprefix('event_')}"]),
            }
            for name, value in said.items()
            if name.startswith("event_")
        }
        event = str(said["event"])
        novelty = _measured(said.get("novelty"))
        row = {
            "event": event,
            "probability": probability,
            "belief": float(said["belief"]),
            "doubt": doubt,
            "vacuity": vacuity,
            "dissonance": _measured(said.get("dissonance")),
            "conflict": float(said["conflict"]),
            "novelty": novelty,
            "verdict": str(verdict),
            "reason": said.get("reason"),
            "next_event": None if said["next_event"] is None else str(said["next_event"]),
            "next_belief": float(said["next_belief"]),
            "views": json.dumps(views, ensure_ascii=False),
            "model": self.version,
            "assigned": None if verdict == "new" else event,
        }
        return row | {"priority": priority(row, self.rarity.get(event, 1.0))}


def _measured(value: float | None) -> float | None:
    """Return a figure, or None where the model has not measured it."""
    return None if value is None or math.isnan(value) else float(value)


class LiveModel:
    """The model in a folder, and a way to read it again."""

    def __init__(
        self, path: str | Path, *, allow_download: bool = False, salt_file: Path | None = None
    ) -> None:
        self.path = expanded(path)
        self.allow_download, self.salt_file = allow_download, salt_file
        self._loading = Lock()
        self.now = self._load()

    def _load(self) -> LoadedModel:
        classifier = load_model(
            self.path, allow_download=self.allow_download, salt_file=self.salt_file
        )
        return LoadedModel(classifier, model_version(self.path))

    def reload(self) -> LoadedModel:
        """Read the folder again; answers come from the old model until the new one is ready."""
        with self._loading:
            loaded = self._load()
            if len(loaded.classifier.memory_):  # what is made at the first question is made here
                loaded.opinions([WARM_UP])
            self.now = loaded
        return loaded


WARM_UP: Mapping[str, Any] = {
    "id": "warm-up",
    "text": "a first message",
    "created_at": None,
    "author": None,
    "elements": "{}",
}


def model_version(path: Path) -> str:
    """Return a short hash of a model's manifest, which has the hash of every file in it."""
    return hashlib.sha256((path / "manifest.json").read_bytes()).hexdigest()[:12]
