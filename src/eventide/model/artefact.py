"""A model as a folder on disk: what is stored, and what a stored model may ask for."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

import eventide
from eventide.corpus.corpus import Corpus, Featuriser
from eventide.errors import EventideError, InputError, NotAllowed
from eventide.features.encoders import Encoder, Function, State, split_specification
from eventide.features.encoders import encoder as make_encoder
from eventide.graphs.views import View
from eventide.methods import METHODS
from eventide.model.card import model_card
from eventide.model.classifier import EventClassifier
from eventide.model.fitting import CLEAR
from eventide.model.label_types import TEXT, as_given, label_kind
from eventide.model.novelty_scores import ARRAYS as NOVELTY
from eventide.model.novelty_scores import NoveltyModel
from eventide.model.salt import salt_check, salt_of
from eventide.model.stored_settings import check_facts_of, stored_settings
from eventide.model.validation_ids import ValidationIds
from eventide.model.validation_predictions import ValidationPredictions
from eventide.opinions.calibration import ProbabilityCalibration
from eventide.runtime.forks import check_process
from eventide.settings import Settings
from eventide.storage import Bundle, damaged, expanded, read_bundle, write_bundle


def wants(parameters: Mapping[str, Any], settings: Mapping[str, Any]) -> list[str]:
    """Name what a model would download, import or read beyond its own directory.

    >>> wants({"encoder": "wordllama+spacy:en_core_web_md", "entities": "rules"}, {})
    ['the spaCy pipeline en_core_web_md (its code is imported)']
    """
    found = [
        _wanted(*part.partition(":")[::2])
        for part in split_specification(str(parameters.get("encoder")))
    ]
    found.append(_wanted(*str(parameters.get("entities")).partition(":")[::2]))
    file = settings.get("text", {}).get("word_vectors")
    if file is not None:
        found.append(f"the file {file} (word vectors)")
    return list(dict.fromkeys(each for each in found if each))


def check_allowed(wanted: list[str], path: Path) -> None:
    """Raise `NotAllowed` if a model wants anything from outside."""
    if wanted:
        raise NotAllowed(
            f"the model wants {' and '.join(wanted)}",
            where=str(path),
            next_step="if you trust where it comes from: --allow-download (allow_download=True)",
        )


def _wanted(name: str, argument: str) -> str:
    if name == "transformers":
        return f"the checkpoint {argument} of transformers (downloaded unless it is here)"
    if name == "spacy":
        return f"the spaCy pipeline {argument} (its code is imported)"
    if name == "word2vec" and argument:
        return f"the file {argument} (word vectors)"
    return ""


KIND = "model"
CLEAR_FILE = "messages.jsonl"
OPINIONS = "opinions"
"""The file of the calibration and the validation predictions; a model without is uncalibrated."""
STATES = "states"
"""The file of what new messages read of the memory; without it that is computed when needed."""


def save_model(model: EventClassifier, path: Path, *, keep_text: bool) -> Path:
    """Write ``model`` whole, or not at all; an older model there is replaced."""
    state = model.featuriser_.encoder.state()
    facts = model_facts(model, state, keep_text=keep_text)
    arrays = {
        "weights": model.method_.state(),
        "memory": model.memory_.state() | {"labels": model.labels_} | _validation(model),
        "encoder": state.arrays,
    }
    opinions = opinion_state(model)
    if opinions:
        arrays[OPINIONS] = opinions
    states = model.method_.memory_states()
    if states:
        arrays[STATES] = states
    if model.novelty_ is not None:
        arrays[NOVELTY] = model.novelty_.state()
    texts = {"README.md": model_card(facts)}
    if keep_text:
        texts[CLEAR_FILE] = _clear(model).write_ndjson()
    write_bundle(path, KIND, facts, arrays, texts)
    return path


def model_facts(model: EventClassifier, state: State, *, keep_text: bool) -> dict[str, Any]:
    """Collect what the manifest says of a model."""
    featuriser, names = model.featuriser_, model.class_names.tolist()
    counts = np.bincount(model.labels_[model.labels_ >= 0], minlength=len(names))
    if featuriser.salt_apart:
        salt = {"salt": None, "salt_check": salt_check(featuriser.salt)}
    else:
        salt = {"salt": featuriser.salt.hex()}
    return {
        "eventide": eventide.__version__,
        "parameters": model.plain_params(),
        "settings": model.settings_.model_dump(mode="json"),
        "classes": names,
        "label_kind": label_kind(model.classes_),
        "class_counts": dict(zip(names, counts.tolist(), strict=True)),
        "views": {view.name: list(view.columns) for view in featuriser.views},
        **salt,
        "encoder": state.facts,
        "keeps_text": keep_text,
        "history": model.history_,
        "best_epoch": model.best_epoch_,
        "notes": list(model.notes_),
        "messages": len(model.memory_),
        "calibration": model.calibration_.note(),
    }


def load_model(
    path: str | Path,
    *,
    encoder: str | Encoder | Function | None = None,
    allow_download: bool = False,
    salt_file: str | Path | None = None,
) -> EventClassifier:
    """Read a model that ``save_model`` wrote, after checking every file.

    ``encoder`` hands an encoder over that was given in Python: only its state is in the files. A
    model whose encoder downloads weights, imports a package or reads another file is loaded only
    with ``allow_download``. ``salt_file`` is the file of a model that was trained with one; without
    it the environment variable EVENTIDE_SALT_FILE is asked.
    """
    check_process()
    path = expanded(path)
    bundle = read_bundle(path, KIND)
    check_facts_of(bundle, path)
    facts = bundle.facts
    if not allow_download:
        check_allowed(wants(facts["parameters"], facts["settings"]), path)
    settings = stored_settings(facts["settings"], path)
    try:
        return _restored(bundle, settings, salt_of(facts, salt_file, path), encoder)
    except EventideError:
        raise
    except (KeyError, ValueError, TypeError, IndexError, AttributeError, RuntimeError) as error:
        raise damaged(path, f"the files do not fit together ({error})") from None


def _restored(
    bundle: Bundle, settings: Settings, salt: bytes, encoder: str | Encoder | Function | None
) -> EventClassifier:
    facts, memory = bundle.facts, bundle.arrays["memory"]
    parameters = facts["parameters"] | ({} if encoder is None else {"encoder": encoder})
    model = EventClassifier(**parameters)
    model.settings_ = settings
    views = tuple(View(name, tuple(columns)) for name, columns in facts["views"].items())
    state = State(bundle.arrays["encoder"], facts["encoder"])
    model.method = todays_name(model.method, model.settings_)
    model.classes_ = as_given(facts["classes"], facts.get("label_kind", TEXT))
    model.notes_ = tuple(facts["notes"])
    model.history_, model.best_epoch_ = facts["history"], facts["best_epoch"]
    model.featuriser_ = Featuriser(
        make_encoder(model.encoder).restore(state),
        views,
        model.settings_.graph,
        salt,
        salt_apart=facts["salt"] is None,
    )
    model.memory_, model.labels_ = Corpus.from_state(memory, views), memory["labels"]
    model.validated_ = ValidationIds.from_state(memory)
    model.novelty_ = NoveltyModel.from_state(bundle.arrays.get(NOVELTY))
    if OPINIONS in bundle.arrays:
        _restore_opinions(model, bundle.arrays[OPINIONS])
    model.remembered_ = None
    if facts["keeps_text"]:
        content = io.BytesIO(bundle.others[CLEAR_FILE])
        model.remembered_ = pl.read_ndjson(content, schema=dict.fromkeys(CLEAR, pl.String))
    model.method_ = METHODS.load(model.method)(model.settings_, model.seed)
    model.method_.restore(bundle.arrays["weights"], model.memory_)
    if STATES in bundle.arrays:
        model.method_.recall_states(bundle.arrays[STATES])
    return model


def _validation(model: EventClassifier) -> dict[str, NDArray[np.uint8]]:
    """Who chose the epoch; a model of an older eventide does not know."""
    return {} if model.validated_ is None else model.validated_.state()


def opinion_state(model: EventClassifier) -> dict[str, NDArray[Any]]:
    """How probabilities are calibrated, and on what; nothing for a model of an older eventide."""
    if model.validation_ is None:
        return {}
    return model.calibration_.state() | model.validation_.state()


def _restore_opinions(model: EventClassifier, arrays: Mapping[str, NDArray[Any]]) -> None:
    classes = len(model.classes_)
    model.calibration_ = ProbabilityCalibration.from_state(arrays, classes)
    kind = model.calibration_.kind
    model.validation_ = ValidationPredictions.from_state(arrays, classes, kind)


def todays_name(method: str, settings: Settings) -> str:
    """Name the method of a model saved when ``ucl`` and ``ucl-ec`` could have +CB unsaid.

    Others did not weigh classes then, whatever their settings said.

    >>> todays_name("ucl-ec", Settings()), todays_name("ce", Settings())
    ('ucl-ec', 'ce')
    """
    unsaid = settings.loss.class_balanced and method in ("ucl", "ucl-ec")
    return f"{method}+cb" if unsaid else method


def _clear(model: EventClassifier) -> pl.DataFrame:
    if model.remembered_ is None:
        raise InputError(
            "the model was saved without text, so there is none to keep",
            next_step="train again with --keep-text, or save without it",
        )
    return model.remembered_
