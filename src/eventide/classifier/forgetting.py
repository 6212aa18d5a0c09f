"""Taking messages out of a model's memory, by id or by author."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

from eventide.classifier.facade import EventClassifier
from eventide.classifier.files import load_model, save_model
from eventide.errors import InputError


def forget(path: Path, *, ids: Sequence[str] = (), users: Sequence[str] = ()) -> int:
    """Remove messages from a saved model's memory and write it again; return how many went."""
    model = load_model(path)
    count = forget_messages(model, ids=ids, users=users)
    save_model(model, path, keep_text=model.remembered_ is not None)
    return count


def forget_messages(
    model: EventClassifier, *, ids: Sequence[str] = (), users: Sequence[str] = ()
) -> int:
    """Remove messages from a model's memory; return how many went.

    Their vectors, times, elements and hashes are gone, and text and names too where they were kept.
    The weights, which were trained on them, stay as they are: to undo that, train again without.
    """
    if not ids and not users:
        raise InputError("nothing to forget", next_step="give --id or --user")
    keys = model.preparation_.hashed("id", list(ids))
    # An unknown author is stored as the hash of "", which no name can ask for.
    authors = model.preparation_.hashed("user", [user for user in users if user])
    unwanted = np.isin(model.memory_.ids, keys) | np.isin(model.memory_.users, authors)
    if not unwanted.any():
        raise InputError(
            "the model remembers no such message",
            next_step="check the spelling; ids and authors must match exactly",
        )
    keep = np.flatnonzero(~unwanted)
    if not len(keep):
        raise InputError(
            "that would forget every message", next_step="delete the model's directory instead"
        )
    memory = model.memory_.take(keep).compact()
    weights = {
        name: array[keep] if name.startswith("rows.") else array
        for name, array in model.method_.state().items()
    }
    model.method_.restore(weights, memory)
    model.memory_, model.labels_ = memory, model.labels_[keep]
    if model.validated_ is not None:
        model.validated_ = model.validated_.without(keys, authors)
    if model.remembered_ is not None:
        model.remembered_ = model.remembered_.filter(pl.Series(~unwanted))
    return int(unwanted.sum())
