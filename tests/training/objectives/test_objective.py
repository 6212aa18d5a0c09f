"""Objectives by settings: registered losses, margins, fusion rules and samplers are chosen by name."""

import sys
from types import ModuleType

import numpy as np
import pytest
import torch

from eventide import EventClassifier
from eventide.errors import BadSetting
from eventide.losses import LOSSES, MARGINS, PROTOTYPES
from eventide.losses.contrastive.prototypical import LearnedPrototypes
from eventide.model import load_model
from eventide.opinions import FUSIONS
from eventide.settings import resolve
from eventide.training import SAMPLERS

QUICK = {"training__epochs": 2, "training__batch_size": 150, "encoder": "tfidf-svd:8"}


def fitted(messages, method="ucl-ec", **changes):
    return EventClassifier(method=method, **(QUICK | changes)).fit(messages)


@pytest.fixture
def register(monkeypatch):
    """Register a function at run time, as a notebook or a plug-in would."""
    module = ModuleType("mine")
    monkeypatch.setitem(sys.modules, "mine", module)

    def add(registry, name, function):
        monkeypatch.setattr(registry, "_entries", dict(registry._entries))
        setattr(module, function.__name__, function)
        registry.add(name, f"mine:{function.__name__}", "of mine")

    return add


@pytest.mark.parametrize("method", ["ucl-ec", "ce", "tsc", "kpgnn", "word2vec", "hybrid-psc"])
def test_a_registered_loss_joins_the_objective_of_any_method_that_trains(small_sample, method):
    model = fitted(small_sample, method, loss__extra_terms={"scl": 0.25})
    weights = model.method_.phases[0].objective.weights
    assert weights(1)["scl"] == 0.25
    for row in (row for row in model.history_ if "phase" not in row):
        total = sum(weight * row[name] for name, weight in weights(int(row["epoch"])).items())
        assert row["total"] == pytest.approx(total, rel=1e-5)


@pytest.mark.parametrize("name", [n for n in LOSSES.names() if n not in ("error", "agreement")])
def test_every_registered_loss_can_be_added_to_ucl(small_sample, name):
    model = fitted(small_sample, "ucl", loss__extra_terms=f"{name}:0.01", training__epochs=1)
    assert np.isfinite(model.history_[0][name])


def test_a_loss_registered_at_run_time_trains_saves_and_loads(small_sample, register, tmp_path):
    seen = []

    def shrinking(embeddings, statistics, epoch, power=2.0):
        seen.append((epoch, statistics.uncertainty.clone()))
        return embeddings.abs().pow(power).sum(dim=1)

    register(LOSSES, "shrinking", shrinking)
    small = fitted(small_sample, "ce", loss__extra_terms="shrinking:5")
    assert small.history_[-1]["shrinking"] < fitted_norm(small_sample)
    # Asking for class statistics makes a method without evidence follow them.
    assert seen[0][0] == 1
    assert not torch.equal(seen[0][1], seen[-1][1])
    again = load_model(small.save(tmp_path / "model"))
    np.testing.assert_array_equal(
        again.predict_proba(small_sample), small.predict_proba(small_sample)
    )


def fitted_norm(messages):
    """The mean squared length of embeddings, summed over views, without the extra term."""
    model = fitted(messages, "ce")
    outputs = model.method_.runner.evaluate(np.arange(len(messages)))
    return float(sum(each.embeddings.square().sum(dim=1).mean() for each in outputs.values()))


def test_what_cannot_be_added_is_refused_with_a_hint(small_sample, register):
    def greedy(embeddings, labels, radii):
        raise AssertionError

    with pytest.raises(BadSetting, match=r"did you mean 'scl'\?"):
        resolve({"loss.extra_terms": {"scll": 1.0}})
    with pytest.raises(BadSetting, match="reads opinions"):
        fitted(small_sample, "ce", loss__extra_terms={"euc": 1.0})
    with pytest.raises(BadSetting, match="does not read the opinion"):
        fitted(small_sample, "ucl", loss__calibration="scl")
    with pytest.raises(BadSetting, match="has a term 'agreement' already"):
        fitted(small_sample, "ucl", loss__extra_terms={"agreement": 1.0})
    register(LOSSES, "greedy", greedy)
    with pytest.raises(BadSetting, match=r"asks for radii(.|\n)*a loss reads opinion, logits"):
        fitted(small_sample, "ce", loss__extra_terms={"greedy": 1.0})


def test_registered_margins_prototypes_and_calibration_are_chosen_by_name(small_sample, register):
    def far(statistics, scale):
        return torch.full_like(statistics.uncertainty, 3.0)

    class Still(LearnedPrototypes):
        def __init__(self, *arguments, **named):
            super().__init__(*arguments, **named)
            self.requires_grad_(False)

    def certain(opinion, labels):
        return opinion.uncertainty

    register(MARGINS, "far", far)
    register(PROTOTYPES, "still", Still)
    register(LOSSES, "certain", certain)
    plain = fitted(small_sample, "ucl")
    changes = {"margin": "far", "prototypes": "still", "calibration": "certain"}
    model = fitted(small_sample, "ucl", **{f"loss__{name}": v for name, v in changes.items()})
    assert model.history_[0]["contrastive"] > plain.history_[0]["contrastive"]
    assert model.history_[0]["calibration"] < 1
    assert type(model.method_.objective.terms["contrastive"].loss.prototypes) is Still


def test_the_fusion_rule_is_chosen_by_name(small_sample, register):
    def first(opinions):
        return opinions[0]

    register(FUSIONS, "first", first)
    opinions = fitted(small_sample, loss__fusion="first").opinions(small_sample)
    np.testing.assert_allclose(opinions["uncertainty"], opinions["uncertainty_hashtag"])
    averaged = fitted(small_sample, loss__fusion="average").opinions(small_sample)
    views = averaged.select("uncertainty_hashtag", "uncertainty_entity", "uncertainty_user")
    np.testing.assert_allclose(averaged["uncertainty"], views.mean_horizontal(), rtol=1e-9)


def test_the_sampler_is_chosen_by_name(small_sample, register):
    drawn = []

    def counted(rows, labels, size, seed, epoch):
        drawn.append(epoch)
        yield rows[:size]

    register(SAMPLERS, "counted", counted)
    fitted(small_sample, "ce", training__sampler="counted", training__epoch_steps=1)
    assert drawn == [1, 2]
    shuffled, aware = (
        fitted(small_sample, "ce", training__sampler=name).history_[0]["error"]
        for name in ("shuffled", "class-aware")
    )
    assert shuffled != aware
    with pytest.raises(BadSetting, match="draws its own batches"):
        fitted(small_sample, "hybrid-psc", training__sampler="class-aware")
    with pytest.raises(BadSetting, match=r"did you mean 'shuffled'\?"):
        resolve({"training.sampler": "shufled"})
