"""One step of the training loop without a network: the loss of given outputs."""

from __future__ import annotations

from eventide.losses.loss_inputs import LossInputs
from eventide.losses.settings import LossSettings
from eventide.losses.total import paper_terms, total_loss
from eventide.training.objectives.objective import Objective
from eventide.training.objectives.output_readers import EvidenceReader
from eventide.training.validation_scores import plain_values


def inputs_of(objective, outputs, labels, epoch, statistics=None):
    """What the loop gives to the terms of an objective."""
    fused = objective.reader.fuse(objective.reader.opinions(outputs))
    return LossInputs(outputs, fused, labels, statistics or objective.statistics, epoch)


def loss_of(objective, outputs, labels, epoch, statistics=None):
    """The total of a batch, and every term by name with the total."""
    inputs = inputs_of(objective, outputs, labels, epoch, statistics)
    terms = {name: term(inputs) for name, term in objective.terms.items()}
    total = total_loss(terms, objective.weights(epoch))
    return total, plain_values(terms | {"total": total})


def values_of(objective, outputs, labels, epoch, statistics=None):
    """Every term by name, one value per message."""
    inputs = inputs_of(objective, outputs, labels, epoch, statistics)
    return {name: term.values(inputs) for name, term in objective.terms.items()}


def paper_objective(counts, *, views, width, settings=None, seed=0):
    """UCL's objective for classes with these numbers of training messages."""
    settings = settings or LossSettings()
    terms = paper_terms(settings, views=views, classes=len(counts), width=width, seed=seed)
    return Objective(counts, terms, EvidenceReader(settings.fusion))


def prototypes_of(objective):
    """The prototypes of its contrastive term."""
    return objective.terms["contrastive"].loss.prototypes
