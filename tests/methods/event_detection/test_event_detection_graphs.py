"""PP-GCN, KPGNN, MVGAN and ETGNN as whole methods: what each learns from, and what it keeps."""

from datetime import UTC, datetime

import numpy as np
import polars as pl
import pytest
import torch

from eventide.corpus.training_set import prepare_data
from eventide.data import read
from eventide.experiments.run import method_note
from eventide.features.elements import with_elements
from eventide.features.encoders import encoder
from eventide.graphs.incidence import shared_counts
from eventide.graphs.views import PAPER_VIEWS
from eventide.losses.class_state import ClassStatistics
from eventide.losses.loss_inputs import LossInputs
from eventide.methods import METHODS
from eventide.methods.event_detection.etgnn import Etgnn
from eventide.methods.event_detection.kpgnn import TIMES, Kpgnn, Triplets
from eventide.methods.event_detection.mvgan import Mvgan
from eventide.methods.event_detection.pp_gcn import (
    MOST_BATCHES,
    PpGcn,
    log_norms,
    pair_batches,
    paired_batches,
)
from eventide.model import EventClassifier, load_model
from eventide.model.forget import forget
from eventide.networks.multi_view import ViewOutput
from eventide.networks.settings import NetworkSettings
from eventide.opinions.categorical import Categorical
from eventide.runners.sampled_runner import VIEW
from eventide.settings import PRESETS, preset, resolve
from objective_steps import loss_of

SAMPLED = {"pp-gcn": PpGcn, "kpgnn": Kpgnn, "mvgan": Mvgan}
QUICK = {"training__epochs": 3, "encoder": "tfidf-svd:32"}


@pytest.fixture(scope="module")
def plan(small_sample):
    return prepare_data(
        with_elements(read(small_sample).messages),
        encoder=encoder("tfidf-svd:16"),
        views=PAPER_VIEWS,
        graph=resolve().graph,
        inductive=False,
        seed=0,
    )


def method_of(name, **changes):
    kind = METHODS.load(name)
    return kind(resolve(kind.defaults, {"training.epochs": 2}, changes), 0)


@pytest.mark.parametrize("name", ["pp-gcn", "kpgnn", "mvgan", "etgnn"])
def test_it_is_listed_with_what_a_table_must_say(name):
    assert METHODS.entry(name).group == "event-detection"
    note = method_note(name, resolve().model_dump())
    assert ("at most 32 sampled neighbours" in note) == (name in SAMPLED)
    assert ("reconstruction" in note) == (name == "mvgan")


def test_sizes_are_the_released_ones_and_the_note_says_what_is_not(plan):
    kpgnn, pp_gcn = method_of("kpgnn"), method_of("pp-gcn")
    corpus = plan.training_set.corpus
    first, last = kpgnn.make_network(corpus, 3).layers
    assert (first.source_score.shape, last.source_score.shape) == ((4, 8), (1, 32))
    network = pp_gcn.make_network(corpus, 3)
    shapes = [tuple(each.shape) for each in network.layers.parameters() if each.dim() == 2]
    assert shapes == [(512, 16), (256, 512), (128, 256)]
    assert pp_gcn.settings.training.batch_size == 2 * 64
    said = method_note("kpgnn", kpgnn.settings.model_dump())
    assert "(released: 800)" in said
    assert "batches of 512 (released: 2000), no DGI" in said
    assert "16 batches of pairs" in method_note("pp-gcn", pp_gcn.settings.model_dump())


@pytest.mark.parametrize("name", ["pp-gcn", "kpgnn", "mvgan", "etgnn"])
def test_it_learns_the_sample(small_sample, name):
    settings = {"training__epochs": 6 if name == "pp-gcn" else 20, "encoder": "tfidf-svd:32"}
    model = EventClassifier(method=name, **settings).fit(small_sample)
    events = small_sample["event"].drop_nulls()
    guess = events.value_counts()["count"].max() / len(events)
    assert model.score(small_sample.filter(pl.col("split") == "test")) > guess + 0.2


@pytest.mark.parametrize("name", SAMPLED)
def test_only_the_receptive_field_is_computed_and_it_is_enough(plan, name):
    """Some rows, learned from in training, get what all rows together get in evaluation."""
    method = method_of(name)
    method.fit(plan.training_set, lambda row: None, None)
    method.runner.network.train_only("all")
    rows = np.array([5, 17, 3, 5])
    learned = method.runner.learn(rows)[VIEW]
    whole = method.runner.evaluate(rows)[VIEW]
    torch.testing.assert_close(learned.embeddings, whole.embeddings, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(learned.logits, whole.logits, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["pp-gcn", "kpgnn"])
def test_the_head_is_fitted_on_vectors_that_stay(plan, name):
    method = method_of(name)
    kept = []

    def watch(row):
        if row.get("phase") == 2:
            states = method.runner.network.layers.state_dict()
            kept.append({key: value.clone() for key, value in states.items()})

    method.fit(plan.training_set, watch, None)
    assert len(kept) == 2
    assert all(torch.equal(kept[0][key], kept[1][key]) for key in kept[0])


@pytest.mark.parametrize(("name", "epoch"), [("pp-gcn", 2), ("kpgnn", 2), ("kpgnn", 4)])
def test_a_killed_run_ends_in_the_same_weights(small_sample, tmp_path, name, epoch):
    """Through momentum, random negatives and the phase that follows."""

    class Killed(Exception):
        pass

    def watch(row):
        if row["epoch"] == epoch:
            raise Killed

    settings = QUICK | {"training__batch_size": 64}
    whole = EventClassifier(method=name, **settings).fit(small_sample)
    place = tmp_path / "checkpoint"
    with pytest.raises(Killed):
        EventClassifier(method=name, **settings).fit(small_sample, watch=watch, checkpoints=place)
    resumed = EventClassifier(method=name, **settings)
    resumed.fit(small_sample, checkpoints=place, resume=True)
    expected, got = whole.method_.state(), resumed.method_.state()
    for key in expected:
        np.testing.assert_array_equal(expected[key], got[key], err_msg=key)


def test_pp_gcn_weighs_pairs_by_shared_elements(plan):
    corpus = plan.training_set.corpus
    rows, columns = np.array([0, 1, 2, 8]), np.array([5, 9, 2, 3])
    found = method_of("pp-gcn").weigh(corpus, rows, corpus, columns)
    for view, incidence in enumerate(corpus.incidences.values()):
        m = shared_counts(incidence, incidence).toarray()
        for place, (i, j) in enumerate(zip(rows, columns, strict=True)):
            both = m[i, i] + m[j, j]
            assert found[place, view] == pytest.approx(2 * m[i, j] / both if both else 0)


def test_pairs_are_half_of_one_event_and_repeat_by_seed_and_epoch():
    rows = np.arange(100, 140)
    labels = np.array([0] * 30 + [1] * 9 + [2])
    label_of = dict(zip(rows, labels, strict=True))
    batches = list(paired_batches(rows, labels, 10, 8, seed=1, epoch=2))
    assert len(batches) == 8
    for batch in batches:
        alike = [label_of[a] == label_of[b] for a, b in zip(batch[:10], batch[10:], strict=True)]
        assert alike == [True, False] * 5
    firsts = np.concatenate([batch[:10] for batch in batches[:4]])
    assert sorted(firsts) == rows.tolist()  # everybody's turn
    assert {b for batch in batches for b in batch[10:]} > set(rows[30:39])
    again = list(paired_batches(rows, labels, 10, 8, seed=1, epoch=2))
    assert all(np.array_equal(*pair) for pair in zip(batches, again, strict=True))
    other = list(paired_batches(rows, labels, 10, 8, seed=1, epoch=3))
    assert not np.array_equal(batches[0], other[0])


def test_an_epoch_of_pairs_is_bounded():
    rows, labels = np.arange(10_000), np.repeat([0, 1], 5000)
    sizes = [len(batch) for batch in pair_batches(rows, labels, 128, 0, 1)]
    assert sizes == [128] * MOST_BATCHES


def test_kpgnn_reads_days_and_the_fraction_of_the_day(plan):
    corpus = plan.training_set.corpus
    numbers = method_of("kpgnn").time_numbers(corpus)
    for row in (0, 7):
        when = corpus.source["created_at"][row].astimezone(UTC)
        apart = when - datetime(1899, 12, 30, tzinfo=UTC)
        assert numbers[row, 0] == pytest.approx(apart.days / 100_000)
        assert numbers[row, 1] == pytest.approx(apart.total_seconds() / 86_400 % 1, abs=1e-4)


def test_kpgnn_keeps_its_time_numbers_through_saving_and_forgetting(small_sample, tmp_path):
    model = EventClassifier(method="kpgnn", **QUICK).fit(small_sample)
    before = model.method_.state()[TIMES]
    path = model.save(tmp_path / "model")
    assert np.array_equal(load_model(path).method_.state()[TIMES], before)
    gone = model.remembered_["id"][3]
    forget(path, ids=[gone])
    assert np.array_equal(load_model(path).method_.state()[TIMES], np.delete(before, 3, axis=0))


def test_triplets_repeat_with_the_batch_not_with_what_came_before():
    """A resumed run draws the negatives that the unbroken run would have drawn."""
    generator = torch.Generator().manual_seed(0)
    embeddings = torch.randn(12, 2, generator=generator)
    labels = torch.tensor([0, 1] * 6)
    outputs = {VIEW: ViewOutput(embeddings, embeddings, NetworkSettings())}
    opinion = Categorical(embeddings)
    statistics = ClassStatistics.initial(torch.tensor([6, 6]))

    def losses(epochs):
        triplets = Triplets(seed=0)
        return [
            triplets(LossInputs(outputs, opinion, labels, statistics, epoch)).tolist()
            for epoch in epochs
            for _ in range(2)
        ]

    both = losses([1, 2])
    assert losses([2]) == both[2:]
    assert len({tuple(each) for each in both}) > 1


def test_mvgan_weighs_by_meaning_time_and_hashtags(plan):
    corpus = plan.training_set.corpus
    rows, columns = np.array([0, 1, 2, 8]), np.array([5, 9, 2, 3])
    found = method_of("mvgan").weigh(corpus, rows, corpus, columns)
    tags = shared_counts(corpus.incidences["hashtag"], corpus.incidences["hashtag"]).toarray()
    for (cosine, near, together), i, j in zip(found, rows, columns, strict=True):
        x, y = corpus.features[i], corpus.features[j]
        truth = x @ y / (np.linalg.norm(x) * np.linalg.norm(y))
        assert cosine == pytest.approx(max(truth, 0), abs=1e-5)
        assert near == pytest.approx(np.exp(-abs(corpus.times[i] - corpus.times[j])))
        assert together == (tags[i, j] > 0)


def test_etgnn_is_error_plus_annealed_divergence_plus_agreement():
    """The total against plain loops; terms of UCL are not there."""
    settings = resolve(Etgnn.defaults, {"network.evidence": "softplus"})
    generator = torch.Generator().manual_seed(0)
    batch, classes, width, epoch = 5, 3, 4, 10
    labels = torch.tensor([0, 1, 2, 1, 0])
    outputs = {
        view: ViewOutput(
            torch.randn(batch, width, generator=generator, dtype=torch.float64),
            torch.randn(batch, classes, generator=generator, dtype=torch.float64),
            settings.network,
        )
        for view in ("one", "two", "three")
    }
    method = Etgnn(settings, 0)
    network = type(
        "Network", (), {"views": tuple(outputs), "encoder": type("E", (), {"width": width})}
    )
    objective = method.make_objective(network, torch.tensor([2, 2, 1]))
    total, terms = loss_of(objective, outputs, labels, epoch)
    assert set(terms) == {"error", "calibration", "agreement", "total"}

    error = divergence = 0.0
    for i, y in enumerate(labels.tolist()):
        growth = torch.ones(classes, dtype=torch.float64)
        for output in outputs.values():
            growth = growth * (1 + torch.log1p(output.logits[i].exp()) / classes)
        alpha = classes * (growth - 1) + 1
        error += torch.digamma(alpha.sum()) - torch.digamma(alpha[y])
        false = alpha.clone()
        false[y] = 1
        divergence += (
            torch.lgamma(false.sum())
            - torch.lgamma(false).sum()
            - torch.lgamma(torch.tensor(float(classes), dtype=torch.float64))
            + ((false - 1) * (torch.digamma(false) - torch.digamma(false.sum()))).sum()
        )
    agreement = 0.0
    views = [output.embeddings for output in outputs.values()]
    for u in range(3):
        for v in range(u + 1, 3):
            for i in range(batch):
                for j in range(batch):
                    alike = [
                        torch.cosine_similarity(z[i], z[j], dim=0) for z in (views[u], views[v])
                    ]
                    agreement += (alike[0] - alike[1]) ** 2 / batch**2
    expected = error / batch + epoch / 25 * divergence / batch + 0.5 * agreement
    torch.testing.assert_close(total, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("preset_name", PRESETS)
def test_etgnn_is_as_printed_in_every_preset_and_its_variant_as_ours(preset_name):
    settings = {
        name: resolve(preset(preset_name), METHODS.load(name).defaults)
        for name in ("etgnn", "etgnn+cb", "etgnn-exp")
    }
    for each in (settings["etgnn"], settings["etgnn+cb"]):
        weights = (each.loss.calibration_weight, each.loss.agreement_weight)
        assert (each.network.evidence, *weights) == ("relu", 1.0, 0.5)
    ours = settings["etgnn-exp"]
    assert (ours.network.evidence, ours.network.logit_bound) == ("exp", 5.0)
    assert ours.loss.calibration_weight == 0.1
    assert ours.loss.calibration == "misleading"
    note = method_note("etgnn-exp", ours.model_dump())
    assert note == "ETGNN with exp evidence and calibration weight 0.1"


def test_pp_gcn_chooses_its_epoch_by_the_lengths_of_vectors_alone(plan):
    method = method_of("pp-gcn")
    method.fit(plan.training_set, lambda row: None, None)
    objective = method.phases[0].objective
    vectors = torch.tensor([[3.0, 4.0], [0.0, 5.0], [0.0, 1.0]])
    expected = [[float(np.log(np.linalg.norm(each)))] for each in vectors.tolist()]
    torch.testing.assert_close(log_norms(vectors), torch.tensor(expected))
    assert objective.reader.centroids.shape[-1] == 1


def test_nobody_reads_more_neighbours_than_the_setting_says(plan):
    rows = np.arange(len(plan.training_set.corpus))
    read = {}
    for limit in (2, 8):
        method = method_of("kpgnn", **{"graph.sampled_neighbours": limit})
        method.fit(plan.training_set, lambda row: None, None)
        read[limit] = method.runner.neighbours(rows)[VIEW].max()
    assert read == {2: 2, 8: 8}
