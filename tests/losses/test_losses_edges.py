"""Losses far from the middle: huge evidence, lone messages, absent classes, half precision."""

from __future__ import annotations

import math

import pytest
import torch
from pydantic import ValidationError

from eventide.errors import UnknownName
from eventide.losses import LOSSES, MARGINS, PROTOTYPES
from eventide.losses.class_state import ClassStatistics
from eventide.losses.contrastive.prototypical import EpochCentroids, prototype_loss
from eventide.losses.contrastive.supervised import supervised_contrastive
from eventide.losses.evidence_calibration import (
    annealing,
    misleading_divergence,
    uncertainty_calibration,
)
from eventide.losses.evidential import evidential_error
from eventide.losses.reduction import class_balanced_weights, weighted_mean
from eventide.losses.settings import LossSettings, ablation
from eventide.networks.multi_view import ViewOutput
from eventide.networks.settings import NetworkSettings
from eventide.opinions import FUSIONS
from eventide.opinions.fusion import fuse
from eventide.opinions.opinion import Opinion
from eventide.training import SAMPLERS
from objective_steps import loss_of, paper_objective, prototypes_of, values_of


@pytest.mark.parametrize("amount", [0.0, 1e-300, 1.0, 1e8, 1e300])
@pytest.mark.parametrize("loss", [evidential_error, uncertainty_calibration, misleading_divergence])
def test_opinion_losses_are_finite_with_finite_gradients(loss, amount):
    evidence = torch.tensor([[amount, 0.0, amount / 2], [0.0, amount, 1.0]], dtype=torch.float64)
    evidence.requires_grad_()
    fused = fuse([Opinion.from_evidence(evidence)] * 3)
    for label in range(3):
        values = loss(fused, torch.tensor([label, label]))
        assert values.shape == (2,)
        assert torch.isfinite(values).all()
        assert (values >= 0).all()
        gradient = torch.autograd.grad(values.sum(), evidence, retain_graph=True)[0]
        assert torch.isfinite(gradient).all()


def test_divergence_survives_float32_evidence():
    """The fused product overflows float32; its divergence is still that of a textbook."""
    evidence = torch.tensor([[4e4, 3e4, 2.0]])
    fused = fuse([Opinion.from_evidence(evidence)] * 3)
    value = misleading_divergence(fused, torch.tensor([2])).item()
    log_alpha = [math.log(3) + 3 * math.log(e / 3) for e in (4e4, 3e4)]
    assert value > sum(log_alpha) / 4
    assert math.isfinite(value)


def test_more_misleading_evidence_is_never_cheaper():
    ladder = Opinion.from_evidence(torch.tensor([[0.0, 10.0**k] for k in range(-3, 30)]))
    values = misleading_divergence(ladder, torch.zeros(33, dtype=torch.long))
    assert (values.diff() > 0).all()


def test_contrast_of_a_lone_message_is_zero():
    alone = torch.ones(1, 3, requires_grad=True)
    value = supervised_contrastive(alone, torch.tensor([0]))
    value.sum().backward()
    assert value.tolist() == [0]
    assert alone.grad.tolist() == [[0, 0, 0]]


def test_a_label_outside_the_training_classes_keeps_its_own_term():
    present = torch.tensor([True, False])
    value = prototype_loss(torch.ones(1, 2), torch.eye(2), torch.tensor([1]), present=present)
    assert value.item() == pytest.approx(math.log(2))


def test_only_one_class_present_costs_nothing():
    value = prototype_loss(
        torch.ones(1, 2), torch.eye(2), torch.tensor([0]), present=torch.tensor([True, False])
    )
    assert value.item() == 0


def test_class_weights_ignore_absent_classes_and_order_by_rarity():
    weights = class_balanced_weights(torch.tensor([100, 10, 0, 1]))
    assert weights[2] == 0
    assert weights.sum().item() == pytest.approx(3)
    assert weights[3] > weights[1] > weights[0]
    assert class_balanced_weights(torch.tensor([5, 50]), base=0).tolist() == [1, 1]


def test_class_statistics_follow_the_training_messages():
    statistics = ClassStatistics.initial(torch.tensor([2, 0, 1, 0]))
    assert statistics.counts.tolist() == [2, 0, 1, 0]
    assert statistics.present.tolist() == [True, False, True, False]
    opinion = Opinion.from_evidence(torch.tensor([[4.0, 0, 0, 0], [0, 4.0, 0, 0], [0.0] * 4]))
    after = statistics.updated(opinion, torch.tensor([0, 0, 2]))
    assert after.uncertainty.tolist() == pytest.approx([0.5, 1 - 1e-6, 1, 1 - 1e-6])
    assert after.error_rate.tolist() == pytest.approx([0.5, 1 - 1e-6, 1, 1 - 1e-6])
    assert statistics.uncertainty.tolist() == [1 - 1e-6] * 4


def test_the_weighted_mean_divides_by_the_weights():
    values, weights = torch.tensor([1.0, 2.0, 6.0]), torch.tensor([3.0, 0.0, 1.0])
    assert weighted_mean(values, weights).item() == 9 / 4


def make_batch(messages: int = 8, classes: int = 3):
    generator = torch.Generator().manual_seed(0)
    labels = torch.arange(messages) % classes
    outputs = {
        view: ViewOutput(
            torch.randn(messages, 4, generator=generator, requires_grad=True),
            torch.randn(messages, classes, generator=generator, requires_grad=True),
            NetworkSettings(evidence="softplus"),
        )
        for view in ("u", "v")
    }
    return outputs, labels, torch.bincount(labels, minlength=classes)


def test_terms_are_one_value_per_message_by_name():
    outputs, labels, counts = make_batch()
    objective = paper_objective(counts, views=["u", "v"], width=4)
    terms = values_of(objective, outputs, labels, epoch=1)
    assert list(terms) == ["error", "calibration", "contrastive", "agreement"]
    assert all(values.shape == (8,) for values in terms.values())


def test_a_weight_of_zero_leaves_its_term_out():
    outputs, labels, counts = make_batch()
    settings = LossSettings(calibration_weight=0, contrastive_weight=0, agreement_weight=0)
    objective = paper_objective(counts, views=["u", "v"], width=4, settings=settings)
    assert list(values_of(objective, outputs, labels, 1)) == ["error"]


def test_a_single_view_has_nothing_to_agree_with():
    outputs, labels, counts = make_batch()
    objective = paper_objective(counts, views=["u"], width=4)
    total, log = loss_of(objective, {"u": outputs["u"]}, labels, 1)
    assert "agreement" not in log
    assert torch.isfinite(total)


def test_centroids_before_their_first_refresh_are_neutral():
    outputs, labels, counts = make_batch()
    settings = LossSettings(prototypes="centroids", margin="none")
    objective = paper_objective(counts, views=["u", "v"], width=4, settings=settings)
    values = values_of(objective, outputs, labels, 1)["contrastive"]
    torch.testing.assert_close(values, torch.full((8,), 2 * math.log(3)))
    assert isinstance(prototypes_of(objective), EpochCentroids)


def test_the_seed_decides_the_prototypes():
    def drawn(seed):
        objective = paper_objective(torch.ones(3).long(), views=["u"], width=4, seed=seed)
        return prototypes_of(objective).of("u")

    assert torch.equal(drawn(1), drawn(1))
    assert not torch.equal(drawn(1), drawn(2))


def test_every_registered_name_loads():
    for registry in (LOSSES, MARGINS, PROTOTYPES, FUSIONS, SAMPLERS):
        for entry in registry:
            assert callable(entry.load())


def test_unknown_names_and_bad_settings_are_refused():
    with pytest.raises(UnknownName, match="known: ucl"):
        ablation("pcs")
    with pytest.raises(ValidationError):
        LossSettings(temperature=0)
    assert annealing(3, epochs=0) == 1
