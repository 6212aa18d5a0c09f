"""One typed tree of settings; its defaults are the paper's printed values.

A run's settings are the paper's, changed by a preset, then by the method, then by the caller.
Every change is a dotted name and a value, so a preset is a small dictionary that can be read, and
``--set training.epochs=30`` on the command line is the same as ``training__epochs=30`` in Python.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any

from pydantic import ValidationError

from eventide.errors import BadSetting, warn
from eventide.features.settings import TextSettings
from eventide.graphs.settings import GraphSettings
from eventide.losses import LOSSES, MARGINS, PROTOTYPES
from eventide.losses.settings import LossSettings
from eventide.networks.settings import NetworkSettings
from eventide.opinions import FUSIONS
from eventide.registry import suggestion
from eventide.setting_group import SettingGroup
from eventide.training import SAMPLERS
from eventide.training.settings import TrainingSettings


class Settings(SettingGroup):
    """All settings of a run.

    >>> Settings().network.evidence
    'relu'
    """

    graph: GraphSettings = GraphSettings()
    network: NetworkSettings = NetworkSettings()
    loss: LossSettings = LossSettings()
    training: TrainingSettings = TrainingSettings()
    text: TextSettings = TextSettings()


RULE: dict[str, Any] = {
    # The epoch is chosen by a proper score, which does not saturate; small sets get at least 500
    # steps; nobody stops for want of patience. The same for every method.
    "training.select_by": "nll",
    "training.epochs": 30,
    "training.least_steps": 500,
    "training.epoch_steps": 5,
    "training.patience": 5,
    "training.patience_steps": 50,
    # Where epochs have many steps, several share the costly layers below the last.
    "training.layer1_refresh": 8,
    "training.epoch_rounds": 4,
    # Mean weight 1: +CB then leaves the weight of the error against the other terms as it is.
    "loss.class_balanced_scale": "messages",
}
PRESETS: dict[str, dict[str, Any]] = {
    # What the paper prints, with the doubts settled as paper/deviations.md says.
    "paper": {},
    # The paper's, with one rule of training for all: where tuning starts.
    "untuned": RULE,
    # The same rule, with the settings of each method that tuning chose: see methods/tuned.py.
    "default": RULE,
}


RENAMED: Mapping[str, str] = MappingProxyType(
    {
        "network.clamp": "network.logit_bound",
        "network.fading": "network.time_decay",
        "training.weight_average": "training.ema_decay",
    }
)
"""Earlier names of settings: saved models may have them, and callers are told of the new ones."""


LEAST: Mapping[str, str] = MappingProxyType(
    {
        "training.epochs": "training.least_steps",
        "training.layer1_refresh": "training.epoch_rounds",
    }
)
"""Who sets the first, and not the lower bound that goes with it, means what it says."""


def resolve(*changes: Mapping[str, Any]) -> Settings:
    """Apply dotted changes in order to the paper's values; the last one wins.

    >>> resolve({"training.epochs": 5}, {"training.epochs": "7"}).training.epochs
    7
    >>> resolve({"training.least_steps": 500}, {"training.epochs": 5}).training.least_steps
    0
    >>> resolve({"training.epoch": 5})
    Traceback (most recent call last):
    eventide.errors.BadSetting: there is no setting 'training.epoch'
      next:  did you mean 'training.epochs'?
    >>> resolve({"network.layers": "[8, 8]", "loss.extra_terms": "scl:0.1"}).network.layers
    (8, 8)
    """
    tree: dict[str, dict[str, Any]] = {}
    known = descriptions()
    for change in changes:
        for given, value in change.items():
            name = RENAMED.get(given, given)
            if name != given:
                warn(f"the setting {given} is called {name} now; the old name will go")
            if name not in known:
                close = get_close_matches(name, known, n=1)
                hint = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(known)}"
                raise BadSetting(f"there is no setting {name!r}", next_step=hint)
            group, _, leaf = name.partition(".")
            tree.setdefault(group, {})[leaf] = _plain(value)
        for name, least in LEAST.items():
            if name in change and least not in change:
                tree["training"].pop(least.partition(".")[2], None)
    try:
        return Settings.model_validate(tree)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"][:2])
        raise BadSetting(
            f"setting {name} cannot be {first['input']!r}: {without_prefix(first['msg'])}",
            next_step=known.get(name) or "see the settings in the documentation",
        ) from None


def _plain(value: Any) -> Any:
    """Read the JSON of a list, a mapping or null, as a command line gives it."""
    if isinstance(value, str) and (value == "null" or value[:1] in ("[", "{")):
        try:
            return json.loads(value)
        except ValueError:
            return value  # for the type of the setting to refuse
    return value


def without_prefix(message: str) -> str:
    """Return what a validator of ours said, without pydantic's introduction."""
    return message.removeprefix("Value error, ")


def preset(name: str) -> dict[str, Any]:
    """Return the changes a preset makes to the paper's values."""
    if name not in PRESETS:
        raise BadSetting(f"there is no preset {name!r}", next_step=suggestion(name, PRESETS))
    return PRESETS[name]


def descriptions() -> dict[str, str]:
    """Map every dotted setting to what it is for.

    >>> descriptions()["training.epochs"]
    'At most this many passes over the training messages.'
    """
    groups: dict[str, type[SettingGroup]] = {
        "graph": GraphSettings,
        "network": NetworkSettings,
        "loss": LossSettings,
        "training": TrainingSettings,
        "text": TextSettings,
    }
    return {
        f"{group}.{leaf}": field.description or ""
        for group, section in groups.items()
        for leaf, field in section.model_fields.items()
    }


def registered_targets(settings: Settings) -> list[str]:
    """Return the code ("module:symbol") that settings choose by registered names.

    >>> registered_targets(resolve({"loss.extra_terms": "scl:0.1"}))[-1]
    'eventide.losses.contrastive.supervised:supervised_contrastive'
    """
    loss = settings.loss
    chosen = [
        MARGINS.entry(loss.margin),
        PROTOTYPES.entry(loss.prototypes),
        FUSIONS.entry(loss.fusion),
        SAMPLERS.entry(settings.training.sampler),
        *(LOSSES.entry(name) for name in (loss.calibration, *loss.extra_terms) if name in LOSSES),
    ]
    return [entry.target for entry in chosen]
