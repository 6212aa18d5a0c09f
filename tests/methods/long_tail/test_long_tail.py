"""What is particular to each long-tail method: schedules, first weights, targets, centroids.

That every method fits, judges, saves and loads is asked of all of them in ``tests/checks``.
"""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
import torch
from torch.nn import functional

from eventide.errors import BadSetting
from eventide.losses.classification import ldam, logit_adjusted, sigmoid_focal
from eventide.losses.contrastive.k_positive import (
    k_positive_contrastive,
    matched,
    targeted_contrastive,
)
from eventide.losses.contrastive.prototypical import prototype_loss
from eventide.losses.contrastive.robust import robust_contrastive
from eventide.losses.contrastive.supervised import balanced_contrastive
from eventide.losses.loss_inputs import LossInputs
from eventide.losses.reduction import class_balanced_weights
from eventide.methods import METHODS
from eventide.methods.trained import MultiViewMethod
from eventide.model import EventClassifier
from eventide.networks.multi_view import MultiViewNetwork, ViewOutput
from eventide.settings import preset, resolve
from eventide.tensors import unit_rows
from objective_steps import loss_of

VIEWS = ("u", "v", "w")
COUNTS = torch.tensor([40, 8, 20, 4])
LABELS = torch.tensor([3, 0, 2, 0, 1, 2, 0, 0])
WIDTH, HIDDEN = 6, 5


def method(name, **changes):
    """A method with small layers and no agreement term, so that its own terms stand alone."""
    small = {
        "network.layers": (7, WIDTH),
        "network.head_hidden": HIDDEN,
        "loss.agreement_weight": 0.0,
        "training.epochs": 10,
    }
    kind = METHODS.load(name)
    return kind(resolve(preset("default"), kind.defaults, small, changes), seed=0)


def network_of(each):
    return MultiViewNetwork(
        features=3, classes=len(COUNTS), views=VIEWS, settings=each.settings.network, seed=0
    )


def phases(name, **changes):
    each = method(name, **changes)
    network = network_of(each)
    return each.make_phases(network, COUNTS), network


def batch(network, labels=LABELS, seed=0):
    """Outputs as the network's heads make them of random embeddings."""
    generator = torch.Generator().manual_seed(seed)
    outputs = {}
    for view, head in zip(VIEWS, network.heads, strict=True):
        embeddings = torch.randn(len(labels), WIDTH, generator=generator)
        outputs[view] = ViewOutput(embeddings, head(embeddings), network.settings)
    return outputs


def summed(outputs):
    return sum(output.logits for output in outputs.values())


def test_cb_focal_starts_from_the_prior_of_a_yes(small_sample):
    model = EventClassifier(
        method="cb-focal", training__epochs=1, training__learning_rate=1e-12, encoder="tfidf-svd:8"
    ).fit(small_sample)
    biases = [head.output.bias for head in model.method_.runner.network.heads]
    fused = sum(bias.detach() for bias in biases)
    classes = len(model.classes_)
    torch.testing.assert_close(fused, torch.full((classes,), -math.log(classes - 1)))
    assert torch.allclose(biases[0], biases[1])


def test_cb_focal_weighs_by_class_and_divides_by_the_batch():
    (phase,), network = phases("cb-focal")
    outputs = batch(network)
    values = sigmoid_focal(summed(outputs), LABELS, 1.0)
    expected = sum(
        class_balanced_weights(COUNTS)[y] * v for y, v in zip(LABELS, values, strict=True)
    ) / len(LABELS)
    loss, terms = loss_of(phase.objective, outputs, LABELS, 1)
    torch.testing.assert_close(loss, expected)
    assert terms["total"] == pytest.approx(terms["error"])


def test_ldam_reweighs_after_four_fifths_of_the_epochs():
    (phase,), network = phases("ldam-drw")
    outputs = batch(network)
    cosines = summed(outputs) / len(VIEWS) / 30
    assert cosines.abs().max() <= 1
    values = ldam(30 * cosines, LABELS, COUNTS, 30.0, 0.5)
    weights = class_balanced_weights(COUNTS)[LABELS]
    plain, late = values.mean(), (weights * values).sum() / weights.sum()
    for epoch, expected in ((1, plain), (8, plain), (9, late), (10, late)):
        loss, _ = loss_of(phase.objective, outputs, LABELS, epoch)
        torch.testing.assert_close(loss, expected, check_dtype=False)


def test_ldam_alone_never_reweighs_and_may_stop_early():
    (phase,), network = phases("ldam")
    outputs = batch(network)
    values = ldam(summed(outputs) / len(VIEWS), LABELS, COUNTS, 30.0, 0.5)
    for epoch in (1, 9, 10):
        loss, _ = loss_of(phase.objective, outputs, LABELS, epoch)
        torch.testing.assert_close(loss, values.mean(), check_dtype=False)
    assert method("ldam").settings.training.patience == resolve(preset("default")).training.patience


def frame_methods():
    """Registered methods of the multi-view frame, and whether +CB acts in them."""
    kinds = {entry.name: entry.load() for entry in METHODS}
    return [
        (name, kind.balances_error)
        for name, kind in kinds.items()
        if issubclass(kind, MultiViewMethod)
    ]


WITHOUT = {"cb-focal", "ldam-drw", "hybrid-psc", "dro-lt", "tsc"}


@pytest.mark.parametrize(("name", "acts"), frame_methods())
def test_class_weights_change_the_error_alone_or_are_refused(name, acts):
    """+CB by plain loops in every method that says it has it, the other terms as they were."""
    assert not (acts and name in WITHOUT)
    if not acts:
        with pytest.raises(BadSetting, match="class_balanced") as refused:
            EventClassifier(method=name, loss__class_balanced=True).settings()
        assert refused.value.next_step
        return
    for scale in ("classes", "messages"):
        found = {}
        for balanced in (False, True):
            changes = {"loss.class_balanced": balanced, "loss.class_balanced_scale": scale}
            (phase,), network = phases(name, **changes)
            outputs = batch(network)
            _, found[balanced] = loss_of(phase.objective, outputs, LABELS, 1)
        fused = phase.objective.read(outputs).fused
        values = phase.objective.terms["error"].values(
            LossInputs(outputs, fused, LABELS, phase.objective.statistics, 1)
        )
        raw = [(1 - 0.9999) / (1 - 0.9999**n) for n in COUNTS.tolist()]
        if scale == "classes":
            whole = len(raw) / sum(raw)
        else:
            whole = sum(COUNTS.tolist()) / sum(
                n * w for n, w in zip(COUNTS.tolist(), raw, strict=True)
            )
        expected = sum(
            whole * raw[y] * v for y, v in zip(LABELS.tolist(), values.tolist(), strict=True)
        )
        assert found[True]["error"] == pytest.approx(expected / len(LABELS), rel=1e-5)
        assert found[False]["error"] == pytest.approx(values.mean().item(), rel=1e-5)
        for term in found[True].keys() - {"error", "total"}:
            assert found[True][term] == pytest.approx(found[False][term])


@pytest.mark.parametrize("name", ["word2vec", "bert", "kpgnn", "lr-tfidf", "nearest-in-time"])
def test_class_weights_are_refused_where_nobody_reads_them(name):
    with pytest.raises(BadSetting, match="class_balanced"):
        EventClassifier(method=name, loss__class_balanced=True).settings()


def test_ce_with_class_weights_is_a_method_of_its_own(small_sample):
    quick = {"training__epochs": 1, "training__batch_size": 150, "encoder": "tfidf-svd:8"}
    quick |= {"preset": "untuned"}  # each was tuned by itself
    named = EventClassifier(method="ce+cb", **quick).fit(small_sample)
    asked = EventClassifier(method="ce", loss__class_balanced=True, **quick).fit(small_sample)
    plain = EventClassifier(method="ce", **quick).fit(small_sample)
    probabilities = named.predict_proba(small_sample)
    np.testing.assert_array_equal(probabilities, asked.predict_proba(small_sample))
    assert not np.array_equal(probabilities, plain.predict_proba(small_sample))


def test_schedules_are_not_cut_short_by_an_early_stop():
    assert resolve(preset("default")).training.patience is not None
    for name in ("ldam-drw", "hybrid-psc"):
        assert method(name).settings.training.patience is None
    assert method("ldam-drw", **{"training.patience": 4}).settings.training.patience == 4


@pytest.mark.parametrize(("epoch", "share"), [(1, 0.99), (5, 0.75), (10, 0.0)])
def test_hybrid_psc_shifts_from_contrast_to_classification(epoch, share):
    (phase,), network = phases("hybrid-psc")
    outputs = batch(network)
    objective, half = phase.objective, len(LABELS) // 2
    own = objective.terms["contrastive"].loss
    contrast = sum(
        prototype_loss(
            projector(outputs[view].embeddings[:half]),
            own.prototypes.of(view),
            LABELS[:half],
            temperature=0.1,
        )
        for view, projector in zip(VIEWS, own.projectors, strict=True)
    ).mean()
    error = functional.cross_entropy(summed(outputs)[half:], LABELS[half:])
    loss, terms = loss_of(objective, outputs, LABELS, epoch)
    torch.testing.assert_close(loss, share * contrast + (1 - share) * error)
    assert terms["contrastive"] == pytest.approx(contrast.item(), rel=1e-5)
    assert terms["error"] == pytest.approx(error.item(), rel=1e-5)


def test_hybrid_psc_keeps_its_prototypes_on_the_sphere():
    (phase,), network = phases("hybrid-psc")
    objective, prototypes = phase.objective, phase.objective.terms["contrastive"].loss.prototypes
    optimiser = torch.optim.Adam(objective.parameters(), lr=0.1)
    for epoch in (1, 2):
        for vectors in prototypes.vectors:
            torch.testing.assert_close(vectors.norm(dim=1), torch.ones(len(COUNTS)))
        before = prototypes.of("u").clone()
        loss, _ = loss_of(objective, batch(network), LABELS, epoch)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        assert (prototypes.of("u").norm(dim=1) - 1).abs().max() > 1e-3
        objective.project()
        assert (prototypes.of("u") - before).abs().max() > 1e-3


def test_hybrid_psc_has_an_instance_balanced_and_a_class_balanced_half():
    (phase,), _ = phases("hybrid-psc")
    rows, labels = np.arange(50), np.repeat([0, 1, 2], [40, 8, 2])
    halves = [np.split(each, 2) for each in phase.objective.sampler(rows, labels, 20, 0, 1)]
    instances, balanced = (np.concatenate(part) for part in zip(*halves, strict=True))
    assert sorted(instances) == rows.tolist()
    assert np.ptp(np.bincount(labels[balanced])) <= 3


def test_bcl_adds_contrast_around_centres_of_the_classifiers():
    (phase,), network = phases("bcl")
    outputs = batch(network)
    objective = phase.objective
    own = objective.terms["contrastive"].loss
    contrast = sum(
        balanced_contrastive(
            messages(outputs[view].embeddings),
            LABELS,
            centres(head.output.weight),
            temperature=0.07,
        )
        for view, messages, centres, head in zip(
            VIEWS, own.message_projectors, own.projectors, network.heads, strict=True
        )
    ).mean()
    error = logit_adjusted(summed(outputs) / len(VIEWS), LABELS, COUNTS).mean()
    loss, _ = loss_of(objective, outputs, LABELS, 1)
    torch.testing.assert_close(loss, error + 0.35 * contrast)
    loss.backward()
    assert all(head.output.weight.grad is not None for head in network.heads)
    assert all(each.grad is not None for each in own.parameters())
    assert not any("classifiers" in name for name in objective.state_dict())


def test_logit_adjustment_judges_without_the_prior():
    (phase,), network = phases("logit-adjustment")
    outputs = batch(network)
    loss, _ = loss_of(phase.objective, outputs, LABELS, 1)
    torch.testing.assert_close(loss, logit_adjusted(summed(outputs), LABELS, COUNTS).mean())
    torch.testing.assert_close(phase.objective.read(outputs).fused.logits, summed(outputs))


@pytest.mark.parametrize(
    ("name", "epochs", "trained"),
    [
        ("dro-lt", [40, 40, 20], ["all", "encoder", "classifier"]),
        ("tsc", [30, 30, 40], ["encoder", "encoder", "classifier"]),
    ],
)
def test_phases_of_decoupled_methods(name, epochs, trained):
    each, _ = phases(name, **{"training.epochs": 100})
    assert [phase.settings.epochs for phase in each] == epochs
    assert [phase.trains for phase in each] == trained


def test_dro_lt_robust_phase():
    (_, phase, _), network = phases("dro-lt")
    objective, outputs = phase.objective, batch(network)
    own, reader = objective.terms["representation"].loss, objective.reader
    assert own.radii.tolist() == [[1.0] * len(COUNTS)] * len(VIEWS)
    objective.observe(batch(network, seed=1), LABELS, 0)
    with torch.no_grad():
        own.radii[0, 2] = -5.0
        own.radii[1, 0] = 0.3
    robust = sum(
        robust_contrastive(outputs[view].embeddings, LABELS, centroids, radii.clamp(min=0))
        for view, centroids, radii in zip(VIEWS, reader.centroids, own.radii, strict=True)
    )
    by_class = torch.stack([robust[c == LABELS].mean() for c in LABELS.unique()]).mean()
    errors = functional.cross_entropy(summed(outputs), LABELS, reduction="none")
    weights = (COUNTS / COUNTS.max())[LABELS]
    loss, _ = loss_of(objective, outputs, LABELS, 1)
    torch.testing.assert_close(loss, by_class + (weights * errors).sum() / weights.sum())


def test_dro_lt_draws_four_of_a_class_at_a_time():
    rows, labels = np.arange(50), np.repeat([0, 1, 2], [40, 8, 2])
    for phase in phases("dro-lt")[0][1:]:
        drawn = np.concatenate(list(phase.objective.sampler(rows, labels, 24, 0, 1)))
        turns = labels[drawn].reshape(-1, 4)
        assert (turns == turns[:, :1]).all()
        assert np.ptp(np.bincount(turns[:, 0])) <= 1


def test_tsc_first_phase_is_k_positive_contrast_summed_over_views():
    (phase, _, _), network = phases("tsc")
    outputs = batch(network)
    expected = sum(
        k_positive_contrastive(each.embeddings, LABELS, 6, 0.07) for each in outputs.values()
    )
    loss, _ = loss_of(phase.objective, outputs, LABELS, 1)
    torch.testing.assert_close(loss, expected.mean())


def test_tsc_moves_centroids_and_matches_targets_in_every_step():
    (_, phase, _), network = phases("tsc")
    objective = phase.objective
    own = objective.terms["representation"].loss
    objective.observe(batch(network, seed=1), LABELS, 0)
    torch.testing.assert_close(own.moving, unit_rows(objective.reader.centroids))
    labels = torch.tensor([0, 0, 2])
    outputs, before = batch(network, labels, seed=2), own.moving.clone()
    loss, _ = loss_of(objective, outputs, labels, 1)
    expected = 0.0
    for index, view in enumerate(VIEWS):
        directions = unit_rows(outputs[view].embeddings)
        after = before[index].clone()
        seen = functional.normalize(directions[0] + directions[1], dim=0)
        after[0] = functional.normalize(0.9 * after[0] + 0.1 * seen, dim=0)
        after[2] = functional.normalize(0.9 * after[2] + 0.1 * directions[2], dim=0)
        torch.testing.assert_close(own.moving[index], after)
        targets = own.targets[matched(after, own.targets)]
        expected += targeted_contrastive(outputs[view].embeddings, labels, targets, 6, 0.07, 0.2)
    torch.testing.assert_close(loss, expected.mean())


def test_tsc_reads_directions_and_keeps_its_targets():
    (_, phase, _), network = phases("tsc")
    objective, outputs = phase.objective, batch(network)
    own = objective.terms["representation"].loss
    objective.observe(outputs, LABELS, 1)
    longer = {
        view: ViewOutput(3 * each.embeddings, each.logits, each.settings)
        for view, each in outputs.items()
    }
    torch.testing.assert_close(
        objective.read(longer).fused.logits, objective.read(outputs).fused.logits
    )
    cosines = own.targets @ own.targets.T
    torch.testing.assert_close(cosines[0, 1:], torch.full((3,), -1 / 3))


@pytest.mark.parametrize(
    "name", ["ucl", "ucl-ec+cb", "etgnn", "ce", "cb-focal", "ldam", "ldam-drw", "hybrid-psc",
             "bcl", "dro-lt", "tsc", "logit-adjustment", "ce+cb", "etgnn-exp"]
)  # fmt: skip
def test_objectives_can_be_copied_to_another_process(name):
    """A fitted model is pickled by those who share it among workers."""
    each, network = phases(name)
    outputs = batch(network)
    for phase in each:
        phase.objective.observe(outputs, LABELS, 0)
        other = pickle.loads(pickle.dumps(phase.objective))
        one, two = (loss_of(each, outputs, LABELS, 3)[0] for each in (phase.objective, other))
        torch.testing.assert_close(one, two)


def test_agreement_of_the_views_joins_every_method():
    for name in METHODS.names():
        if METHODS.entry(name).group not in ("long-tail", "beyond"):
            continue
        each, network = phases(name, **{"loss.agreement_weight": 0.5})
        outputs = batch(network)
        for phase in each:
            if phase.trains != "classifier":
                phase.objective.observe(outputs, LABELS, 0)
                assert "agreement" in loss_of(phase.objective, outputs, LABELS, 1)[1], name


@pytest.mark.parametrize(
    "name",
    ["cb-focal", "ldam", "ldam-drw", "hybrid-psc", "bcl", "dro-lt", "tsc", "logit-adjustment"],
)
def test_it_learns(small_sample, name):
    model = EventClassifier(
        method=name, training__epochs=12, training__batch_size=64, encoder="tfidf-svd:16"
    ).fit(small_sample)
    assert model.score(small_sample.filter(split="test")) > 0.6
