"""What a model's manifest must say: complete, of this release or an older one, and consistent."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

import eventide
from eventide.errors import DamagedBundle, EventideWarning
from eventide.settings import RENAMED, Settings, descriptions, without_prefix
from eventide.storage import Bundle, damaged

NEEDED: dict[str, tuple[type, ...]] = {
    "eventide": (str,),
    "parameters": (dict,),
    "settings": (dict,),
    "classes": (list,),
    "class_counts": (dict,),
    "views": (dict,),
    "salt": (str, type(None)),
    "encoder": (dict,),
    "keeps_text": (bool,),
    "history": (list,),
    "best_epoch": (int,),
    "notes": (list,),
    "messages": (int,),
}
FILES = ("weights", "memory", "encoder")
EARLIER: dict[str, Any] = {
    "graph.earlier_only": False,
    "network.evidence_unit": "one",
    "network.initial_rate": math.log(2),
    "loss.prior_adjustment": 0.0,
    "loss.uncertainty_weights": 0.0,
    "training.estimated_shares": False,
    "training.fast_start": 1.0,
    "training.folds": 0,
    "training.gaps": (None,),
    "training.pooled_experts": False,
    "loss.fusion": "dempster",
    "loss.extra_terms": {},
    "loss.class_balanced_scale": "classes",
    "training.epoch_rounds": 1,
    "training.epoch_steps": 1,
    "training.least_steps": 0,
    "training.patience_steps": 0,
    "training.sampler": "shuffled",
    "training.select_by": "accuracy",
    "training.probe_strength": 1.0,
}
"""Settings that later releases added, each with what was done before it existed."""


def check_facts_of(bundle: Bundle, path: Path) -> None:
    """Raise `DamagedBundle` unless the manifest says all that a model needs, and it fits."""
    facts = bundle.facts
    made_by = facts.get("eventide")
    if isinstance(made_by, str) and _release(made_by) > _release(eventide.__version__):
        raise DamagedBundle(
            f"made by a later version of eventide ({made_by}); this is {eventide.__version__}",
            where=str(path),
            next_step=f'upgrade: pip install "eventide>={made_by}"',
        )
    missing = [
        name for name, kinds in NEEDED.items() if not isinstance(facts.get(name, ...), kinds)
    ]
    if missing:
        raise damaged(path, f"the manifest does not say, or not rightly: {', '.join(missing)}")
    gone = [name for name in FILES if name not in bundle.arrays]
    if gone:
        raise damaged(path, f"the manifest names no file of {', '.join(gone)}")
    _check_classes(facts, bundle.arrays, path)


def stored_settings(stored: Mapping[str, Any], path: Path) -> Settings:
    """Rebuild the settings of a model; what it does not say is filled in, and said."""
    known = descriptions()
    stored = _by_todays_names(stored)
    said = {
        f"{group}.{leaf}"
        for group, leaves in stored.items()
        for leaf in (leaves if isinstance(leaves, dict) else [""])
    }
    unknown = sorted(said - known.keys())
    if unknown:
        raise DamagedBundle(
            f"the model has settings that this eventide does not know: {', '.join(unknown)}",
            where=str(path),
            next_step="upgrade eventide to the release that wrote the model, or a newer one",
        )
    tree = {group: dict(leaves) for group, leaves in stored.items()}
    for name in EARLIER.keys() - said:
        group, _, leaf = name.partition(".")
        tree.setdefault(group, {})[leaf] = EARLIER[name]
    try:
        settings = Settings.model_validate(tree)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        told = f"setting {name} cannot be {first['input']!r}: {without_prefix(first['msg'])}"
        raise damaged(path, told) from None
    filled = sorted(known.keys() - said - EARLIER.keys())
    if filled:
        values = settings.model_dump(mode="json")
        told = ", ".join(f"{name} = {_value(values, name)!r}" for name in filled)
        warnings.warn(
            f"the model in {path} does not say all its settings; today's defaults are used: {told}",
            EventideWarning,
            stacklevel=3,
        )
    return settings


def _by_todays_names(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings with those renamed since under their names of today."""
    tree = {
        group: dict(leaves) if isinstance(leaves, dict) else leaves
        for group, leaves in stored.items()
    }
    for old, new in RENAMED.items():
        group, _, leaf = old.partition(".")
        if isinstance(tree.get(group), dict) and leaf in tree[group]:
            tree[group][new.partition(".")[2]] = tree[group].pop(leaf)
    return tree


def _check_classes(
    facts: Mapping[str, Any], arrays: Mapping[str, Mapping[str, NDArray[Any]]], path: Path
) -> None:
    """Check classes, their counts, the labels of the memory and the weights against each other."""
    classes, weights = facts["classes"], arrays["weights"]
    labels = arrays["memory"].get("labels", np.empty(0))
    learned = {len(weights[name]) for name in ("objective.counts",) if name in weights}
    learned |= {weights[name].shape[-1] for name in ("rows.logits",) if name in weights}
    if learned - {len(classes)}:
        raise damaged(path, f"{len(classes)} classes are named, {learned.pop()} were learned")
    if len(labels) != facts["messages"]:
        raise damaged(path, f"{facts['messages']} messages are named, {len(labels)} are here")
    counts = np.bincount(labels[labels >= 0], minlength=len(classes)).tolist()
    named = dict(zip(map(str, classes), counts, strict=False))
    if len(counts) != len(classes) or list(facts["class_counts"].items()) != list(named.items()):
        raise damaged(path, "the classes and how many messages each has do not fit together")


def _release(version: str) -> tuple[int, ...]:
    """Return the numbers of a version: (0, 1, 0) of 0.1.0.dev3."""
    return tuple(int(number) for number in re.findall(r"\d+", version)[:3])


def _value(values: Mapping[str, Any], name: str) -> Any:
    group, _, leaf = name.partition(".")
    return values[group][leaf]
