"""Losses, margins and prototype sources, each by name; settings choose among them.

A loss is a function that returns one value per message [B]. It says by the names of its arguments
what it reads of a batch:

    opinion      the fused opinion; methods with evidence only
    logits       the fused logits [B, C]
    embeddings   the embeddings [B, d] of one view; the values are summed over the views
    views        the embeddings of all views, a list of [B, d]
    labels       the true classes [B]
    counts       training messages per class [C]
    statistics   size, uncertainty and error rate of the classes (``ClassStatistics``)
    epoch        counted from 1

Further arguments need a default. Adding a loss: one module, one test, one line here; then
``--set loss.extra_terms=NAME:WEIGHT`` adds it to the objective of any method that trains a network.
Losses that need parts of their own (targets, radii, pairs) belong to their method's module.
"""

from __future__ import annotations

from eventide.registry import Registry

_HERE = "eventide.losses"
_CONTRASTIVE = f"{_HERE}.contrastive"

LOSSES = Registry("loss", plugins="eventide.losses")
LOSSES.add("error", f"{_HERE}.evidential:evidential_error", "prediction error of the opinion")
LOSSES.add(
    "euc",
    f"{_HERE}.evidence_calibration:uncertainty_calibration",
    "certain when right, uncertain when wrong",
)
LOSSES.add(
    "misleading",
    f"{_HERE}.evidence_calibration:misleading_divergence",
    "divergence of the evidence for other classes (ETGNN)",
)
LOSSES.add(
    "information-error",
    f"{_HERE}.fisher_information:information_error",
    "squared error weighted by the information in the evidence (I-EDL)",
)
LOSSES.add(
    "information",
    f"{_HERE}.fisher_information:information",
    "minus the log determinant of the Fisher information (I-EDL)",
)
LOSSES.add("agreement", f"{_HERE}.agreement:view_agreement", "alike in one view, alike in all")
LOSSES.add("scl", f"{_CONTRASTIVE}.supervised:supervised_contrastive", "plain supervised contrast")
LOSSES.add(
    "k-positive",
    f"{_CONTRASTIVE}.k_positive:k_positive_contrastive",
    "supervised contrast with k positives (TSC)",
)
LOSSES.add("cross-entropy", f"{_HERE}.classification:cross_entropy", "cross-entropy of the logits")
LOSSES.add(
    "focal", f"{_HERE}.classification:sigmoid_focal", "the well classified count less (CB+Focal)"
)
LOSSES.add("ldam", f"{_HERE}.classification:ldam", "wider margins for rarer classes (LDAM)")
LOSSES.add(
    "logit-adjusted",
    f"{_HERE}.classification:logit_adjusted",
    "class shares taken into account (logit adjustment, BCL)",
)

MARGINS = Registry("margin", plugins="eventide.margins")
MARGINS.add("none", f"{_CONTRASTIVE}.margins:no_margin", "no margin (PSC)")
MARGINS.add("fixed", f"{_CONTRASTIVE}.margins:fixed_margin", "the same for every class (PSC+m)")
MARGINS.add(
    "error_rate", f"{_CONTRASTIVE}.margins:error_rate_margin", "by class error rate (PSC+dm)"
)
MARGINS.add(
    "uncertainty", f"{_CONTRASTIVE}.margins:uncertainty_margin", "by class uncertainty (UCL)"
)
MARGINS.add("frequency", f"{_CONTRASTIVE}.margins:frequency_margin", "by class frequency")

PROTOTYPES = Registry("prototype source", plugins="eventide.prototypes")
PROTOTYPES.add(
    "learned", f"{_CONTRASTIVE}.prototypical:LearnedPrototypes", "learned in every batch (UCL)"
)
PROTOTYPES.add(
    "centroids", f"{_CONTRASTIVE}.prototypical:EpochCentroids", "centroids of every epoch (UCL-EC)"
)
PROTOTYPES.add(
    "unit",
    f"{_CONTRASTIVE}.prototypical:UnitPrototypes",
    "learned, kept on the unit sphere (Hybrid-PSC)",
)
PROTOTYPES.add(
    "several-centroids",
    f"{_CONTRASTIVE}.several_prototypes:SeveralCentroids",
    "centroids of clusters within each class, by its size and spread",
)
PROTOTYPES.add(
    "several-unit",
    f"{_CONTRASTIVE}.several_prototypes:SeveralLearned",
    "learned on the unit sphere, several for a large class",
)
PROTOTYPES.add(
    "classifier",
    f"{_CONTRASTIVE}.prototypical:ClassifierPrototypes",
    "the classifier's own vectors (with network.classifier=prototypes)",
)
