"""Every loss by name: what it is called, what it is for, where it lives.

A loss is a function that returns one value per message, in one of three kinds by its first
arguments: *representation* (embeddings, labels), *classification* (logits, labels) or *opinion*
(opinion, labels). Adding one = one module, one test, one line here.
"""

from __future__ import annotations

from eventide.registry import Registry

LOSSES = Registry("loss")
_HERE = "eventide.losses"
LOSSES.add("error", f"{_HERE}.evidential:evidential_error", "opinion: prediction error")
LOSSES.add(
    "euc",
    f"{_HERE}.calibration:uncertainty_calibration",
    "opinion: certain when right, uncertain when wrong",
)
LOSSES.add(
    "misleading",
    f"{_HERE}.calibration:misleading_divergence",
    "opinion: divergence of the evidence for other classes",
)
LOSSES.add(
    "prototype",
    f"{_HERE}.contrastive.prototype_loss:prototype_loss",
    "representation: UCL, UCL-EC, PSC, PSC+m, PSC+dm by margin and prototype source",
)
LOSSES.add(
    "scl",
    f"{_HERE}.contrastive.supervised:supervised_contrastive",
    "representation: plain supervised contrast",
)
LOSSES.add(
    "agreement",
    f"{_HERE}.view_agreement:view_agreement",
    "representation of all views: alike in one, alike in all",
)
