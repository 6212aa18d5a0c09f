"""Taking messages out of a model's memory, by id or by author."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from eventide.errors import InputError
from eventide.methods import METHODS
from eventide.outputs import reserved
from eventide.storage import expanded

if TYPE_CHECKING:
    from eventide.model.classifier import EventClassifier


def forget(
    path: Path | str,
    *,
    ids: Sequence[str] = (),
    users: Sequence[str] = (),
    allow_download: bool = False,
    salt_file: Path | str | None = None,
) -> int:
    """Remove messages from a saved model's memory and write it again; return how many went."""
    from eventide.model.artefact import load_model, save_model

    path = expanded(path)
    with reserved(path):
        model = load_model(path, allow_download=allow_download, salt_file=salt_file)
        count = forget_messages(model, ids=ids, users=users)
        save_model(model, path, keep_text=model.remembered_ is not None)
    return count


def forget_messages(
    model: EventClassifier, *, ids: Sequence[str] = (), users: Sequence[str] = ()
) -> int:
    """Remove messages from the memory of a model at hand; return how many went.

    Their vectors, times, elements and hashes are gone, and text and names too where they were kept.
    The weights, which were trained on them, stay as they are: to undo that, train again without.
    An author is found with and without the sign @.
    """
    if not ids and not users:
        raise InputError("nothing to forget", next_step="give --id or --user (ids=, users=)")
    hashed = model.featuriser_.hashed
    keys, authors = hashed("id", [str(each) for each in ids]), hashed("user", spellings(users))
    unwanted = np.isin(model.memory_.ids, keys) | np.isin(model.memory_.users, authors)
    if not unwanted.any():
        raise InputError(
            "the model remembers no such message",
            next_step="check the spelling; ids and authors must match exactly, but for a leading @",
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
    method = METHODS.load(model.method)(model.settings_, model.seed)
    method.restore(weights, memory)  # the model is changed only once all is ready
    model.memory_, model.labels_, model.method_ = memory, model.labels_[keep], method
    if model.validated_ is not None:
        staying = model.validated_.others(keys, authors)
        model.validated_ = model.validated_.take(staying)
        if model.validation_ is not None:
            model.validation_ = model.validation_.take(staying)
    if model.remembered_ is not None:
        model.remembered_ = model.remembered_.filter(pl.Series(~unwanted))
    return int(unwanted.sum())


def spellings(users: Sequence[str]) -> list[str]:
    """Write each author as the data may have it: as given, without @, with @.

    An unknown author is stored as the hash of "", which no name can ask for.

    >>> spellings(["@ann", ""])
    ['@ann', 'ann']
    """
    named = [user.strip() for user in users]
    bare = [user.removeprefix("@") for user in named]
    every = [*users, *named, *bare, *(f"@{user}" for user in bare if user)]
    return list(dict.fromkeys(user for user in every if user.strip("@ ")))
