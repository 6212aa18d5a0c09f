"""What a run records of doubt and of prediction sets, counted again."""

import numpy as np
import pytest

from eventide.experiments import choose, read_experiment_data
from eventide.experiments.fitted_variant import FittedVariant
from eventide.experiments.jobs import ExperimentPlan
from eventide.experiments.prepared import SplitMessages
from eventide.experiments.run import _sets, figures
from eventide.opinions.prediction_sets import PredictionSets
from eventide.scoring.selective import aurc


@pytest.fixture(scope="module")
def variant(small_sample):
    data = read_experiment_data(small_sample)
    plan = ExperimentPlan(
        data.name, data.fingerprint, "stored", "transductive", "tfidf-svd:4", "rules", "default", {}
    )
    (chosen,) = choose("lr-encoder").variants
    split = SplitMessages(data.messages, plan).of(0)
    return FittedVariant.fit(chosen, chosen.settings("default", {}), split)


@pytest.mark.parametrize(("regime", "wanted"), [("scarce-10", 0.9), ("random", 0.99), ("", 0.99)])
def test_sets_and_risk_are_counted_on_test_messages(variant, regime, wanted):
    prediction, truth = variant.predict("test"), variant.truth("test")
    sets = _sets(regime, variant, prediction, truth)
    assert sets.wanted == wanted
    kept = variant.fitted.validation
    inside = PredictionSets.fit(kept.calibrated, kept.truth, wanted).contains(
        prediction.probability, prediction.predicted
    )
    held = [bool(row[label]) for row, label in zip(inside, truth, strict=True)]
    assert sets.coverage == pytest.approx(np.mean(held))
    assert sets.size == pytest.approx(inside.sum() / len(truth))
    classes = [np.mean([h for h, t in zip(held, truth, strict=True) if t == c]) for c in range(5)]
    assert sets.class_coverage == pytest.approx(np.mean(classes))
    counts = variant.fitted.data.training_set.class_counts
    found = figures(truth, prediction, counts, sets=sets)
    assert found.sets == sets
    assert found.aurc == pytest.approx(aurc(prediction.doubt, prediction.scored_as == truth))
