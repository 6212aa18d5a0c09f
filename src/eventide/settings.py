"""One typed tree of settings; its defaults are the paper's printed values.

A run's settings are the paper's, changed by a preset, then by the method, then by the caller.
Every change is a dotted name and a value, so a preset is a small dictionary that can be read, and
``--set training.epochs=30`` on the command line is the same thing as ``training__epochs=30`` in
Python.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from eventide.errors import BadSetting


class Group(BaseModel):
    """A frozen group of settings that knows all its names."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class GraphSettings(Group):
    """How messages become neighbours, and how time is cut."""

    time_unit: Literal["day", "hour", "minute"] = "day"
    bucket_width: int = Field(default=1, ge=1, description="time units in one bucket")
    wide_after: int = Field(
        default=6, ge=1, le=12, description="elements above which a message is wide"
    )
    memory_budget: int = Field(default=1 << 30, ge=0, description="bytes the layer-1 sums may take")


class NetworkSettings(Group):
    """The shared temporal encoder and the evidence heads."""

    layers: int = Field(default=2, ge=1, le=8)
    width: int = Field(default=256, ge=1, description="units of each encoder layer")
    head_width: int = Field(default=128, ge=1, description="hidden units of each evidence head")
    evidence: Literal["relu", "softplus", "exp"] = "relu"
    last_activation: bool = Field(default=False, description="ELU after the last layer too")
    normalise_features: bool = Field(default=False, description="L2-normalise the text vectors")
    residual: bool = Field(default=False, description="add a message's own transformed features")
    dropout: float = Field(
        default=0.0, ge=0, lt=1, description="on the input of each encoder layer"
    )
    head_dropout: float = Field(
        default=0.0, ge=0, lt=1, description="on the hidden units of a head"
    )


class LossSettings(Group):
    """The four terms of the total loss and what shapes them."""

    margin: Literal["none", "fixed", "error", "uncertainty", "frequency"] = "uncertainty"
    prototypes: Literal["learned", "centroids"] = "learned"
    beta: float = Field(default=0.1, ge=0, description="scale of the margin")
    temperature: float = Field(default=1.0, gt=0)
    calibration: bool = Field(default=True, description="whether the EUC term is used")
    calibration_weight: float = Field(default=1.0, ge=0, description="lambda 1")
    contrast_weight: float = Field(default=0.1, ge=0, description="lambda 2")
    agreement_weight: float = Field(default=0.5, ge=0, description="lambda 3")
    anneal_epochs: int = Field(default=25, ge=0, description="epochs until EUC has its full weight")
    class_balance: bool = Field(
        default=False, description="+CB: weight the error by effective numbers"
    )


class TrainingSettings(Group):
    """Optimiser, batches, epochs, device."""

    epochs: int = Field(default=100, ge=1)
    batch_size: int = Field(default=1500, ge=1)
    learning_rate: float = Field(default=1e-3, gt=0)
    weight_decay: float = Field(default=0.0, ge=0)
    patience: int | None = Field(
        default=None, ge=1, description="epochs without a better one, then stop"
    )
    device: str = Field(default="auto", description="auto, cpu, cuda, cuda:1, mps")
    mixed_precision: bool = False


class Settings(Group):
    """All settings of a run.

    >>> Settings().network.evidence
    'relu'
    >>> resolve({"training.epochs": "30"}).training.epochs
    30
    """

    graph: GraphSettings = GraphSettings()
    network: NetworkSettings = NetworkSettings()
    loss: LossSettings = LossSettings()
    training: TrainingSettings = TrainingSettings()


PRESETS: dict[str, dict[str, Any]] = {
    "paper": {},
    "default": {},
}


def resolve(*changes: Mapping[str, Any]) -> Settings:
    """Apply dotted changes in order to the paper's values; the last one wins.

    >>> resolve({"training.epochs": 5}, {"training.epochs": 7}).training.epochs
    7
    >>> resolve({"training.epoch": 5})
    Traceback (most recent call last):
    eventide.errors.BadSetting: there is no setting 'training.epoch'
      next:  did you mean 'training.epochs'?
    """
    tree: dict[str, dict[str, Any]] = {}
    known = names()
    for change in changes:
        for name, value in change.items():
            if name not in known:
                raise _unknown(name, known)
            group, _, leaf = name.partition(".")
            tree.setdefault(group, {})[leaf] = None if value == "null" else value
    try:
        return Settings.model_validate(tree)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        raise BadSetting(
            f"setting {name} cannot be {first['input']!r}: {first['msg'].lower()}",
            next_step="see `eventide methods --settings` for what each setting takes",
        ) from None


def preset(name: str) -> dict[str, Any]:
    """Return the changes a preset makes to the paper's values."""
    if name not in PRESETS:
        raise BadSetting(
            f"there is no preset {name!r}", next_step=f"choose one of {', '.join(PRESETS)}"
        )
    return PRESETS[name]


def names() -> dict[str, str]:
    """Map every dotted setting to what it is for."""
    return {
        f"{group}.{leaf}": field.description or ""
        for group, section in Settings.model_fields.items()
        for leaf, field in _fields(section.annotation).items()
    }


def _fields(group: Any) -> dict[str, Any]:
    return dict(group.model_fields)


def _unknown(name: str, known: Mapping[str, str]) -> BadSetting:
    close = get_close_matches(name, known, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(known)}"
    return BadSetting(f"there is no setting {name!r}", next_step=hint)
