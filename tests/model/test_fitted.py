"""Prepare, fit and predict are the same for the classifier and for experiments."""

import numpy as np
import polars as pl
import pytest

import eventide
from eventide.experiments import choose, compare, read_experiment_data
from eventide.experiments.fitted_variant import FittedVariant
from eventide.experiments.jobs import ExperimentPlan
from eventide.experiments.prepared import SplitMessages
from eventide.features.elements import with_elements
from eventide.features.encoders import encoder
from eventide.graphs.views import PAPER_VIEWS
from eventide.model.fitted import PreparedCache, fit_method
from eventide.settings import preset, resolve

ENCODER = "tfidf-svd:16"
SEED = 3
QUICK = {"training.epochs": 2, "network.layers": (16, 16), "network.head_hidden": 16}


def classifier(method, protocol, messages):
    changes = {name.replace(".", "__"): value for name, value in QUICK.items()}
    model = eventide.EventClassifier(
        method=method, encoder=ENCODER, protocol=protocol, seed=SEED, **changes
    )
    return model.fit(messages)


@pytest.mark.parametrize("protocol", ["transductive", "inductive"])
@pytest.mark.parametrize("method", ["ucl-ec+cb", "ucl-sharp", "lr-encoder"])
def test_an_experiment_predicts_as_the_classifier_does(method, protocol, small_sample):
    """The same seed, split and settings: bit for bit the same predictions."""
    data = read_experiment_data(small_sample)
    plan = ExperimentPlan(
        data.name, data.fingerprint, "stored", protocol, ENCODER, "rules", "default", QUICK
    )
    (variant,) = choose(method).variants
    split = SplitMessages(data.messages, plan).of(SEED)
    run = FittedVariant.fit(variant, variant.settings("default", QUICK), split)
    ours = run.predict("test")

    model = classifier(method, protocol, small_sample)
    test = small_sample.filter((pl.col("split") == "test") & pl.col("event").is_not_null())
    assert len(test) == len(ours.predicted)
    np.testing.assert_array_equal(model.predict_proba(test), ours.probability)
    theirs = model.opinions(test)
    np.testing.assert_array_equal(theirs["uncertainty"], ours.uncertainty)
    assert theirs["event"].to_list() == [run.classes[index] for index in ours.predicted]


def test_compare_records_what_the_classifier_predicts(small_sample, tmp_path):
    """Through the whole of ``compare``: records hold the classifier's predictions."""
    variants = choose("ce,nearest-in-time").variants
    found = compare(
        small_sample, variants, [SEED], out=tmp_path, split="stored", encoder=ENCODER,
        changes=QUICK, workers=1,
    )  # fmt: skip
    test = small_sample.filter((pl.col("split") == "test") & pl.col("event").is_not_null())
    for variant in variants:
        (outcome,) = found.outcomes(variant.name)
        model = classifier(variant.method, "transductive", small_sample)
        told = model.opinions(test)
        np.testing.assert_allclose(outcome.doubt, 1 - told["probability"], rtol=1e-3, atol=1e-9)
        names = [str(model.classes_[index]) for index in outcome.predicted]
        assert names == told["event"].to_list()


def test_runs_share_prepared_data(small_sample, monkeypatch):
    """A cache prepares once for each set of views and graph settings."""
    calls = []
    from eventide.model import fitted

    prepare = fitted.prepare_data
    monkeypatch.setattr(
        fitted, "prepare_data", lambda *args, **rest: (calls.append(1), prepare(*args, **rest))[1]
    )
    messages, cache = with_elements(small_sample), PreparedCache()

    def fit(method, views=PAPER_VIEWS, **changes):
        return fit_method(
            messages, method=method, settings=resolve(preset("default"), {}, changes),
            encoder=encoder(ENCODER), views=views, protocol="transductive", seed=SEED, cache=cache,
        )  # fmt: skip

    one, other = fit("nearest-in-time"), fit("lr-encoder")
    assert one.data is other.data
    assert one.seconds.prepare == other.seconds.prepare > 0
    assert len(calls) == 1
    assert fit("nearest-in-time", PAPER_VIEWS[:1]).data is not one.data
    fit("nearest-in-time", **{"graph.time_unit": "hour"})
    assert len(calls) == 3


def test_no_message_gives_no_prediction(small_sample):
    model = classifier("lr-encoder", "transductive", small_sample)
    nothing = with_elements(small_sample[:0])
    found = model.inference.predict(nothing, model.inference.match(nothing))
    assert found.probability.shape == (0, len(model.classes_))
