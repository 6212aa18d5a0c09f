"""A memory on its way: messages that join it, labels that are taken over, who validates."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from eventide.corpus.corpus import Corpus, Ints
from eventide.corpus.training_set import UNLABELLED, Validation
from eventide.graphs.keys import KeyIndex
from eventide.methods.baselines.logistic_regression import LrEncoder
from eventide.methods.single_step import KEPT
from eventide.model.validation_ids import ValidationIds

if TYPE_CHECKING:
    from eventide.model.classifier import EventClassifier

HELD_OUT = 10
"""Of the labelled messages of an event, every so many-th is held out to validate."""


@dataclass(frozen=True)
class MemoryOnItsWay:
    """The memory on its way: messages, their labels, who validates with which class."""

    corpus: Corpus
    labels: Ints
    clear: pl.DataFrame | None

    def take(self, rows: Ints) -> MemoryOnItsWay:
        """Return the memory of these messages alone."""
        clear = None if self.clear is None else self.clear[rows]
        return MemoryOnItsWay(self.corpus.take(rows).compact(), self.labels[rows], clear)


def validating(model: EventClassifier) -> tuple[ValidationIds | None, Ints]:
    """Who validates, and the class of each; nobody where the model does not know."""
    if model.validated_ is None or model.validation_ is None:
        return None, np.zeros(0, dtype=np.int64)
    return model.validated_, model.validation_.truth


def joined_memory(
    model: EventClassifier,
    memory: MemoryOnItsWay,
    states: dict[str, Any],
    frame: pl.DataFrame,
    known: Ints,
    edited: Any,
) -> tuple[MemoryOnItsWay, Ints, Corpus]:
    """Let new messages join in order of time; return memory, each message's row, the new."""
    fresh = np.flatnonzero(known < 0)
    rows, added = known.copy(), memory.corpus.take(fresh[:0])
    if edited.any():  # what is remembered under these ids goes
        ids = model.featuriser_.hashed("id", frame.filter(pl.Series(edited))["id"])
        staying = np.flatnonzero(~np.isin(memory.corpus.ids, ids))
        place = np.full(len(memory.corpus), -1, dtype=np.int64)
        place[staying] = np.arange(len(staying))
        rows = np.where(rows >= 0, place[rows], -1)
        take_states(states, staying)
        memory = memory.take(staying)
    if len(fresh):
        unseen = frame[fresh]
        corpus = model.inference.prepare(unseen, model.featuriser_.keys(unseen))
        order = np.argsort(corpus.times, kind="stable")
        added, unseen, fresh = corpus.take(order), unseen[order], fresh[order]
        rows[fresh] = len(memory.corpus) + np.arange(len(added))
        if KEPT in states:
            method = model.method_
            assert isinstance(method, LrEncoder)
            states[KEPT] = np.concatenate([states[KEPT], method.logits(added)])
        clear = memory.clear
        if clear is not None:
            clear = pl.concat([clear, unseen.select(clear.columns)], how="vertical_relaxed")
        labels = np.append(memory.labels, np.full(len(added), UNLABELLED, dtype=np.int64))
        memory = MemoryOnItsWay(memory.corpus.joined(added), labels, clear)
    return memory, rows, added


def take_states(states: dict[str, Any], rows: Ints) -> None:
    """Keep a method's state of these messages of the memory alone."""
    for name in [each for each in states if each.startswith("rows.")]:
        states[name] = states[name][rows]


def take_labels(
    memory: MemoryOnItsWay,
    rows: Ints,
    wanted: Ints,
    validated: ValidationIds | None,
    truth: Ints,
) -> tuple[MemoryOnItsWay, ValidationIds | None, Ints, Ints, int]:
    """Take labels over: every tenth of an event validates, the others are to be learned.

    Returns also which messages had no label before, and how many labels were corrected.
    """
    given = wanted >= 0
    labels, truth = memory.labels.copy(), truth.copy()
    place = np.full(len(rows), -1, dtype=np.int64)
    if validated is not None:
        place = validated.find(memory.corpus.ids[rows])
        held = given & (place >= 0)
        truth[place[held]] = wanted[held]
    open_rows = given & (place < 0)
    old = labels[rows[open_rows]]
    corrected = int(((old >= 0) & (old != wanted[open_rows])).sum())
    first = np.flatnonzero(open_rows & (labels[rows] == UNLABELLED))
    if validated is not None and len(first):
        there = np.bincount(np.append(labels[labels >= 0], truth), minlength=wanted.max() + 1)
    labels[rows[open_rows]] = wanted[open_rows]
    if validated is not None and len(first):
        order = first[np.argsort(wanted[first], kind="stable")]
        starts = np.searchsorted(wanted[order], wanted[order])
        count = there[wanted[order]] + np.arange(len(order)) - starts
        chosen = order[count % HELD_OUT == HELD_OUT - 1]
        labels[rows[chosen]] = UNLABELLED
        ids = np.concatenate([validated.ids, memory.corpus.ids[rows[chosen]]])
        users = np.concatenate([validated.users, memory.corpus.users[rows[chosen]]])
        validated, truth = ValidationIds(ids, users), np.append(truth, wanted[chosen])
    return replace(memory, labels=labels), validated, truth, first, corrected


def validation_of(corpus: Corpus, validated: ValidationIds | None, truth: Ints) -> Validation:
    """Return the validation messages that the memory still has."""
    if validated is None:
        return Validation(truth[:0], rows=truth[:0])
    rows = KeyIndex(corpus.ids).find(validated.ids)
    return Validation(truth[rows >= 0], rows=rows[rows >= 0])
