"""Losses return one value per message; reduction is apart. ``LOSSES`` lists them by name.

A loss is one of three kinds by its first arguments: *representation* (embeddings, labels),
*classification* (logits, labels) or *opinion* (opinion, labels). Adding one = one module, one test,
one line here.
"""

from __future__ import annotations

from eventide.registry import Registry

LOSSES = Registry("loss")
_HERE = "eventide.losses"
LOSSES.add("error", f"{_HERE}.evidential:evidential_error", "opinion: prediction error")
LOSSES.add(
    "euc",
    f"{_HERE}.evidence_calibration:uncertainty_calibration",
    "opinion: certain when right, uncertain when wrong",
)
LOSSES.add(
    "misleading",
    f"{_HERE}.evidence_calibration:misleading_divergence",
    "opinion: divergence of the evidence for other classes",
)
LOSSES.add(
    "prototype",
    f"{_HERE}.contrastive.prototypical:prototype_loss",
    "representation: UCL, UCL-EC, PSC, PSC+m, PSC+dm by margin and prototype source",
)
LOSSES.add(
    "scl",
    f"{_HERE}.contrastive.supervised:supervised_contrastive",
    "representation: plain supervised contrast",
)
LOSSES.add(
    "agreement",
    f"{_HERE}.agreement:view_agreement",
    "representation of all views: alike in one, alike in all",
)
LOSSES.add(
    "focal",
    f"{_HERE}.classification:sigmoid_focal",
    "classification: the well classified count less (CB+Focal)",
)
LOSSES.add(
    "ldam",
    f"{_HERE}.classification:ldam",
    "classification: wider margins for rarer classes (LDAM)",
)
LOSSES.add(
    "logit-adjusted",
    f"{_HERE}.classification:logit_adjusted",
    "classification: class shares taken into account (logit adjustment, BCL)",
)
LOSSES.add(
    "balanced",
    f"{_HERE}.contrastive.supervised:balanced_contrastive",
    "representation: contrast in which classes weigh the same (BCL)",
)
LOSSES.add(
    "robust",
    f"{_HERE}.contrastive.robust:robust_contrastive",
    "representation: near the class centroid at a learned radius (DRO-LT)",
)
LOSSES.add(
    "k-positive",
    f"{_HERE}.contrastive.k_positive:k_positive_contrastive",
    "representation: supervised contrast with k positives (TSC, first phase)",
)
LOSSES.add(
    "targeted",
    f"{_HERE}.contrastive.k_positive:targeted_contrastive",
    "representation: contrast drawn to evenly spread targets (TSC, second phase)",
)
LOSSES.add(
    "norm-ratio",
    f"{_HERE}.pairwise:norm_ratio_loss",
    "representation of pairs: equally long if of one event (PP-GCN)",
)
LOSSES.add(
    "triplet",
    f"{_HERE}.pairwise:triplet_loss",
    "representation: nearer to its event than to a random violating negative (KPGNN)",
)
LOSSES.add(
    "infomax",
    f"{_HERE}.pairwise:infomax_loss",
    "representation: tells the real graph from a shuffled one (KPGNN, optional)",
)
