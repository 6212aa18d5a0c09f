"""Optimiser, batches, epochs and device; the defaults are the paper's printed settings."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, NonNegativeFloat, PositiveFloat, PositiveInt

from eventide.setting_group import SettingGroup
from eventide.training import SAMPLERS

SamplerName = Annotated[str, AfterValidator(SAMPLERS.checked)]


class TrainingSettings(SettingGroup):
    """How a network is trained.

    >>> TrainingSettings().batch_size
    1500
    """

    epochs: PositiveInt = 100
    """At most this many passes over the training messages."""
    batch_size: PositiveInt = 1500
    least_steps: int = Field(default=0, ge=0)
    """Small sets get more epochs, until these are at least this many steps. Setting `epochs` later
    sets this to 0."""
    epoch_steps: PositiveInt = 1
    """An epoch has at least this many steps: small sets are gone through several times."""
    sampler: SamplerName = "shuffled"
    """How batches are drawn, where a method does not draw its own."""
    optimiser: Literal["adam", "sgd"] = "adam"
    momentum: float = Field(default=0.9, ge=0, lt=1)
    """Of `sgd`; `adam` has its own."""
    learning_rate: PositiveFloat = 1e-3
    schedule: Literal["constant", "cosine"] = "constant"
    """How the learning rate goes: the same throughout, or down to nothing at the last epoch."""
    fast_start: float = Field(default=1.0, ge=1)
    """The learning rate of the first epoch is so many times as high, but at most half as many times
    as a round has steps; that of the second epoch half of it, and so on down to once. The layers
    below the last learn once a round, and would need epochs to get going where rounds are long."""
    weight_decay: NonNegativeFloat = 0.0
    ema_decay: float = Field(default=0.0, ge=0, lt=1)
    """How much of the exponential moving average (EMA) of the weights each step keeps; 0 keeps no
    average."""
    select_by: Literal["accuracy", "nll"] = "accuracy"
    """What chooses the epoch on validation messages: `accuracy` (then macro-F1, then the loss), or
    `nll`, the class-averaged negative log-likelihood, which does not saturate."""
    patience: int | None = Field(default=None, ge=1)
    """Stop when no better epoch came for this many epochs; null trains all epochs."""
    patience_steps: int = Field(default=0, ge=0)
    """Do not stop before this many steps without a better epoch either."""
    probe_strength: PositiveFloat = 1.0
    """C of logistic regression: the larger, the closer it follows the training messages."""
    folds: int = Field(default=0, ge=0)
    """Measure class uncertainty and error rate out of sample: training messages are dealt into so
    many folds, every epoch leaves one of them out of its steps and measures on it. 0: as printed,
    on all training messages, which the network has fitted."""
    estimated_shares: bool = False
    """Estimate how often each event occurs from the unlabelled messages of the graph, and let
    probabilities follow; else they follow the labels, which may have been drawn otherwise."""
    pooled_experts: bool = False
    """Let a pool of experts decide events: the network's opinion, logistic regression on the text
    vectors, the nearest labelled messages, elements, and when each event was written about. The
    weights are fitted on validation messages; beliefs and vacuity stay the network's."""
    gaps: tuple[int | None, ...] = Field(default=(None,), min_length=1)
    """Which neighbours the steps of training see, in turn: null all of them, a number only those
    more than so many time buckets older, as if the message came that long after the rest."""
    layer1_refresh: PositiveInt = 1
    """Steps of a round: they share the hidden states of all messages, and the layers below the last
    learn when the round ends, by its mean gradient. 1: all layers learn in every step."""
    epoch_rounds: PositiveInt = 1
    """Rounds are shorter where an epoch would have fewer than so many. Setting `layer1_refresh`
    later sets this to 1."""
    device: str = "auto"
    """auto, cpu, cuda, cuda:1; auto takes CUDA if there is one."""
    mixed_precision: bool = False
    """Run the network in bfloat16 where that is safe; opinions and losses stay in full width."""
