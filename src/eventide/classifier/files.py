"""A model on disk: weights, memory, encoder state, manifest and a card; see `eventide.storage`.

Element keys, ids, texts and authors are salted 128-bit hashes. Text and names in clear are kept
only on request, and the manifest says so.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import eventide
from eventide.classifier.card import model_card
from eventide.classifier.facade import CLEAR, EventClassifier
from eventide.errors import InputError
from eventide.features.encoders import State, encoder
from eventide.forks import check_process
from eventide.graphs.views import View
from eventide.methods import METHODS
from eventide.settings import Settings
from eventide.storage import read_bundle, write_bundle
from eventide.training.corpus import Corpus, Preparation

KIND = "model"
CLEAR_FILE = "messages.jsonl"


def save_model(model: EventClassifier, path: Path, *, keep_text: bool) -> Path:
    """Write ``model`` whole, or not at all."""
    state = model.preparation_.encoder.state()
    counts = np.bincount(model.labels_[model.labels_ >= 0], minlength=len(model.classes_))
    facts: dict[str, Any] = {
        "eventide": eventide.__version__,
        "parameters": model.get_params(),
        "settings": model.settings_.model_dump(mode="json"),
        "classes": model.classes_.tolist(),
        "class_counts": dict(zip(model.classes_.tolist(), counts.tolist(), strict=True)),
        "views": {view.name: list(view.columns) for view in model.preparation_.views},
        "salt": model.preparation_.salt.hex(),
        "encoder": state.facts,
        "keeps_text": keep_text,
        "history": model.history_,
        "best_epoch": model.best_epoch_,
        "notes": list(model.notes_),
        "messages": len(model.memory_),
    }
    arrays = {
        "weights": model.method_.state(),
        "memory": model.memory_.state() | {"labels": model.labels_},
        "encoder": state.arrays,
    }
    texts = {"README.md": model_card(facts)}
    if keep_text:
        texts[CLEAR_FILE] = _clear(model).write_ndjson()
    write_bundle(path, KIND, facts, arrays, texts)
    return path


def load_model(path: str | Path) -> EventClassifier:
    """Read a model that ``save_model`` wrote, after checking every file."""
    check_process()
    path = Path(path)
    bundle = read_bundle(path, KIND)
    facts, memory = bundle.facts, bundle.arrays["memory"]
    model = EventClassifier(**facts["parameters"])
    views = tuple(View(name, tuple(columns)) for name, columns in facts["views"].items())
    state = State(bundle.arrays["encoder"], facts["encoder"])
    model.settings_ = Settings.model_validate(facts["settings"])
    model.classes_ = np.array(facts["classes"])
    model.notes_ = tuple(facts["notes"])
    model.history_, model.best_epoch_ = facts["history"], facts["best_epoch"]
    model.preparation_ = Preparation(
        encoder(model.encoder).restore(state),
        views,
        model.settings_.graph,
        bytes.fromhex(facts["salt"]),
    )
    model.memory_, model.labels_ = Corpus.from_state(memory, views), memory["labels"]
    if facts["keeps_text"]:
        content = io.BytesIO((path / CLEAR_FILE).read_bytes())
        model.remembered_ = pl.read_ndjson(content, schema=dict.fromkeys(CLEAR, pl.String))
    else:
        model.remembered_ = None
    model.method_ = METHODS.load(model.method)(model.settings_, model.seed)
    model.method_.restore(bundle.arrays["weights"], model.memory_)
    return model


def _clear(model: EventClassifier) -> pl.DataFrame:
    if model.remembered_ is None:
        raise InputError(
            "the model was saved without text, so there is none to keep",
            next_step="train again with --keep-text, or save without it",
        )
    return model.remembered_
