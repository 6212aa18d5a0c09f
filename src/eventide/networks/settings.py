"""What a network is made of; the defaults are the paper's printed settings."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, PositiveFloat, PositiveInt

from eventide.setting_group import SettingGroup

Activation = Literal["none", "elu"]
FeatureNormalisation = Literal["none", "unit", "standard"]
Evidence = Literal["relu", "softplus", "exp"]
EvidenceUnit = Literal["one", "classes"]
Classifier = Literal["linear", "cosine", "prototypes"]
TimeDecay = Literal["free", "positive", "none"]


class NetworkSettings(SettingGroup):
    """Sizes and switches of the shared encoder and of the evidence heads.

    >>> NetworkSettings().layers
    (256, 256)
    """

    layers: tuple[PositiveInt, ...] = Field(default=(256, 256), min_length=1)
    """Width of each temporal attention layer; their number is the paper's L."""
    final_activation: Activation = "none"
    """After the last layer; the layers before it always use ELU."""
    feature_normalisation: FeatureNormalisation = "none"
    """`unit`: every vector to length 1; `standard`: every column to mean 0 and deviation 1."""
    dropout: float = Field(default=0.0, ge=0, lt=1)
    """Share of the values between two layers that training sets to zero."""
    time_decay: TimeDecay = "free"
    """What distance in time does to a neighbour's weight. `free`, as printed: the learned rate may
    be negative, and then the most distant count most; `positive`: they only ever count less;
    `none`: all count the same."""
    initial_rate: PositiveFloat = 0.05
    """Rate of `positive` time decay per time bucket before anything is learned. From a fast start
    a message whose neighbours are all old hears hardly more than itself, and learns so."""
    residual: bool = False
    """Add a learned map of a message's own state to what its neighbourhood says."""
    head_hidden: PositiveInt = 128
    """Width of the hidden layer of each view's evidence head."""
    head_dropout: float = Field(default=0.0, ge=0, lt=1)
    """Share of a head's hidden values that training sets to zero."""
    classifier: Classifier = "linear"
    """A head's last layer: a linear map, or the cosine of hidden values and class weights.
    `prototypes`: no hidden layer, the cosine of the embedding and one vector per class; with
    `loss.prototypes=classifier` the boundary that is shaped is the boundary that decides."""
    cosine_scale: PositiveFloat = 30.0
    """What a cosine is multiplied with to make it a logit."""
    evidence: Evidence = "relu"
    """What turns a head's outputs into evidence; `relu` has no gradient where evidence is 0."""
    evidence_unit: EvidenceUnit = "one"
    """What evidence is counted in. `one`, as printed: with more classes the same evidence is less
    certain, and learning starts slower; `classes`: in units of the number of classes C, so that
    certainty and the first gradients do not depend on C."""
    temperature: PositiveFloat = 1.0
    """Divides the head's output before the evidence function."""
    logit_bound: PositiveFloat = 10.0
    """`exp` evidence bends the head's output smoothly into (-logit_bound, logit_bound)."""
