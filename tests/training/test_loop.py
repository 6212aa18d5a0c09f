"""Algorithm 1: it learns, it repeats itself, and no label but a training message's moves a weight."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
import torch

from eventide.corpus.training_set import prepare_data
from eventide.data import read
from eventide.features.elements import with_elements
from eventide.features.encoders import encoder
from eventide.graphs.views import PAPER_VIEWS
from eventide.losses.class_state import ClassStatistics
from eventide.losses.evidential import evidential_error
from eventide.methods.ucl import UclEc
from eventide.model import EventClassifier
from eventide.networks.multi_view import MultiViewNetwork
from eventide.opinions.fusion import fuse
from eventide.opinions.opinion import Opinion
from eventide.runners.runner import NOBODY
from eventide.scoring.metrics import macro_f1
from eventide.settings import resolve
from eventide.testing.explicit_graphs import ExplicitNeighbourhood
from objective_steps import loss_of, paper_objective, prototypes_of

QUICK = {"training__epochs": 3, "training__batch_size": 64, "encoder": "tfidf-svd:32"}


def weights(model):
    return model.method_.state()


def same(first, second):
    return all(np.array_equal(first[name], second[name]) for name in first)


@pytest.mark.parametrize("method", ["ucl", "ucl-ec"])
def test_the_same_seed_gives_the_same_weights(small_sample, method):
    runs = [EventClassifier(method=method, **QUICK).fit(small_sample) for _ in range(2)]
    assert same(weights(runs[0]), weights(runs[1]))
    other = EventClassifier(method=method, seed=1, **QUICK).fit(small_sample)
    assert not same(weights(runs[0]), weights(other))


@pytest.mark.parametrize(("steps", "acts"), [(1, False), (2, False), (4, True)])
def test_a_fast_start_acts_where_rounds_are_long(small_sample, steps, acts):
    """Small sets, whose layers all learn in every step or every other, are trained as without it."""
    rounds = QUICK | {"training__layer1_refresh": steps, "training__epochs": 1}
    slow, fast = (
        EventClassifier(method="ucl", training__fast_start=start, **rounds).fit(small_sample)
        for start in (1.0, 4.0)
    )
    assert same(weights(slow), weights(fast)) is not acts


def test_it_learns(small_sample):
    model = EventClassifier(**(QUICK | {"training__epochs": 25})).fit(small_sample)
    assert model.history_[-1]["total"] < model.history_[0]["total"]
    test = small_sample.filter(pl.col("split") == "test")
    assert model.score(test) > 0.6


def test_every_figure_of_every_epoch_is_finite_and_named(small_sample):
    model = EventClassifier(**QUICK).fit(small_sample)
    for number, row in enumerate(model.history_, start=1):
        assert row["epoch"] == number
        assert {"error", "calibration", "contrastive", "agreement", "total"} <= set(row)
        assert np.isfinite(list(row.values())).all()


def test_labels_of_validation_and_test_messages_move_no_weight(small_sample):
    """Validation labels may choose the epoch, so the last epoch's weights are compared."""
    generator = np.random.default_rng(0)
    held_out = small_sample["split"].is_in(["val", "test"]).to_numpy()
    events = small_sample["event"].to_numpy().copy()
    events[held_out] = generator.permutation(events[held_out])
    permuted = small_sample.with_columns(pl.Series("event", events))
    assert not permuted["event"].equals(small_sample["event"])

    one_epoch = QUICK | {"training__epochs": 1}
    states = [
        weights(EventClassifier(**one_epoch).fit(frame)) for frame in (small_sample, permuted)
    ]
    assert same(*states)


def test_it_leaves_the_global_random_state_alone(small_sample):
    torch.manual_seed(5)
    np.random.seed(5)  # noqa: NPY002
    before = torch.random.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
    EventClassifier(network__dropout=0.3, **QUICK).fit(small_sample)
    assert torch.equal(before[0], torch.random.get_rng_state())
    assert np.array_equal(before[1], np.random.get_state()[1])  # noqa: NPY002


def test_patience_stops_a_run_that_does_not_improve(small_sample):
    settings = QUICK | {"training__epochs": 50, "training__learning_rate": 1e-9}
    model = EventClassifier(training__patience=2, **settings).fit(small_sample)
    assert len(model.history_) < 50


def test_the_best_epoch_is_kept(small_sample):
    model = EventClassifier(**(QUICK | {"training__epochs": 8})).fit(small_sample)
    best = max(row["validation_accuracy"] for row in model.history_)
    validation = small_sample.filter(pl.col("split") == "val")
    assert model.score(validation) == pytest.approx(best)


def test_train_is_algorithm_1_line_by_line(small_sample):
    """The loop against Algorithm 1 written out: explicit edges, epochs, batches, class state."""
    frame = with_elements(read(small_sample).messages)
    settings = resolve(
        {
            "training.epochs": 4,
            "training.batch_size": 50,
            "network.evidence": "softplus",
            "network.layers": (16, 16),
            "loss.prototypes": "centroids",
        }
    )
    plan = prepare_data(
        frame,
        encoder=encoder("tfidf-svd:8"),
        views=PAPER_VIEWS,
        graph=settings.graph,
        inductive=False,
        seed=3,
    )
    method = UclEc(settings, seed=3)
    run = method.fit(plan.training_set, lambda row: None, None)

    training_set, corpus = plan.training_set, plan.training_set.corpus
    classes, rows = training_set.classes, training_set.training_rows
    labels = torch.from_numpy(training_set.labels)
    features = torch.from_numpy(corpus.features)
    network = MultiViewNetwork(
        features=features.shape[1],
        classes=classes,
        views=list(corpus.incidences),
        settings=settings.network,
        seed=3,
    )
    graphs = {
        view: ExplicitNeighbourhood(each, corpus.times) for view, each in corpus.incidences.items()
    }
    counts = torch.bincount(labels[rows], minlength=classes)
    objective = paper_objective(
        counts, views=network.views, width=16, settings=settings.loss, seed=3
    )
    optimiser = torch.optim.Adam(network.parameters(), lr=settings.training.learning_rate)
    uncertainty = torch.full((classes,), 1 - 1e-6, dtype=torch.float64)
    statistics = ClassStatistics.initial(counts)
    best, kept = (-1.0, -1.0, -np.inf), None
    for epoch in range(1, 5):
        network.eval()
        with torch.no_grad():
            outputs = network(features, graphs, torch.from_numpy(rows))
        prototypes_of(objective).refresh(
            {view: output.embeddings for view, output in outputs.items()}, labels[rows]
        )
        statistics = replace(statistics, uncertainty=uncertainty)
        network.train()
        order = np.random.default_rng([3, epoch]).permutation(rows)
        for start in range(0, len(order), 50):
            batch = torch.from_numpy(order[start : start + 50])
            outputs = network(features, graphs, batch)
            loss, _ = loss_of(objective, outputs, labels[batch], epoch, statistics)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        network.eval()
        with torch.no_grad():
            judged = {
                part: fuse(
                    [
                        Opinion.from_evidence(output.evidence)
                        for output in network(features, graphs, torch.from_numpy(of)).values()
                    ]
                )
                for part, of in (("train", rows), ("val", training_set.validation.rows))
            }
        uncertainty = torch.stack(
            [judged["train"].uncertainty[labels[rows] == c].mean() for c in range(classes)]
        )
        truth = torch.from_numpy(training_set.validation.labels)
        predicted = judged["val"].predicted
        rank = (
            float((predicted == truth).double().mean()),
            macro_f1(truth.numpy(), predicted.numpy()),
            -float(evidential_error(judged["val"], truth).mean()),
        )
        if rank > best:
            best, kept = rank, ({k: v.clone() for k, v in network.state_dict().items()}, epoch)
    assert run.best_epoch == kept[1]
    for name, expected in kept[0].items():
        got = method.runner.network.state_dict()[name]
        torch.testing.assert_close(got, expected, rtol=2e-3, atol=2e-4, msg=name)


def test_shared_hidden_states_are_a_setting_that_changes_the_weights_and_repeats_itself(
    small_sample,
):
    alone = EventClassifier(**QUICK).fit(small_sample)
    rounds = QUICK | {"training__layer1_refresh": 3}
    runs = [EventClassifier(**rounds).fit(small_sample) for _ in range(2)]
    assert same(weights(runs[0]), weights(runs[1]))
    assert not same(weights(runs[0]), weights(alone))
    assert np.isfinite([row["total"] for row in runs[0].history_]).all()


def test_hidden_layers_learn_at_the_end_of_a_round_alone(small_sample):
    runner = EventClassifier(**QUICK).fit(small_sample).method_.runner
    first, top = runner.network.encoder.layers[0], runner.network.encoder.layers[-1]
    moved = []
    for last in (False, False, True):
        runner.network.zero_grad(set_to_none=True)
        outputs = runner.learn(np.arange(5), ahead=np.arange(0 if last else 5))
        sum(each.logits.square().sum() for each in outputs.values()).backward()
        moved.append([layer.transform.weight.grad is not None for layer in (first, top)])
        assert (runner._round is None) is last
    assert moved == [[False, True], [False, True], [True, True]]


def test_a_round_gives_hidden_layers_the_mean_of_its_gradients(small_sample):
    runner = EventClassifier(**QUICK, network__dropout=0).fit(small_sample).method_.runner
    batches, weight = (
        (np.arange(5), np.arange(3, 9)),
        runner.network.encoder.layers[0].transform.weight,
    )

    def gradient(batch, ahead=NOBODY):
        runner.network.zero_grad(set_to_none=True)
        outputs = runner.learn(batch, ahead=ahead)
        sum(each.logits.square().sum() for each in outputs.values()).backward()
        return weight.grad

    alone = torch.stack([gradient(batch) for batch in batches]).mean(dim=0)
    gradient(batches[0], batches[1])
    torch.testing.assert_close(gradient(batches[1]), alone, atol=1e-5, rtol=1e-4)


def test_a_round_that_was_stopped_leaves_nothing_to_the_next_step(small_sample):
    runner = EventClassifier(**QUICK, network__dropout=0).fit(small_sample).method_.runner
    rows = np.arange(5)
    runner.learn(rows, ahead=rows)
    with torch.no_grad():
        runner.network.encoder.layers[0].transform.weight.mul_(2)
    said = {view: each.logits for view, each in runner.evaluate(rows).items()}
    again = runner.learn(rows)
    assert runner._round is None
    for view, each in again.items():
        prior = dict(runner.network._heads())[view].prior
        torch.testing.assert_close(each.logits - prior.to(each.logits), said[view])
