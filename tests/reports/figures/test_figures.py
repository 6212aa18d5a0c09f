"""The figures that need training, on a slice of the sample: values true, drawings complete."""

import json

import numpy as np
import polars as pl
import pytest
from matplotlib.figure import Figure

from eventide.errors import BadSetting, UnknownName
from eventide.methods.tuned import method_settings
from eventide.reports.figures import (
    FIGURES,
    class_sizes,
    class_uncertainty,
    reliability_curves,
    right_wrong,
    risk_coverage_curves,
    sensitivity,
    tsne,
)
from eventide.reports.figures import drift_curves as drift
from eventide.reports.figures import group_bars as groups
from eventide.reports.figures import similarity_histograms as similarity
from eventide.reports.figures.recipe import make_figure
from eventide.reports.figures.trained_runs import Runs
from eventide.scoring.class_groups import GROUPS

QUICK = {"training.epochs": 3, "training.batch_size": 64}
OPTIONS = {"split": "stored", "encoder": "tfidf-svd:32", "changes": QUICK}


@pytest.fixture(scope="module")
def runs(small_sample):
    return Runs.of(small_sample, ["ce", "ucl-ec"], **OPTIONS)


def check(values, recipe, written=""):
    """The values can be written as JSON, the lines say something, and the drawing can be made."""
    made = recipe.draw(values)
    assert isinstance(made, Figure)
    made.canvas.draw()
    json.dumps(values.__dict__, default=lambda each: each.__dict__, allow_nan=False)
    assert written in "\n".join(values.lines())
    return made


def test_class_uncertainty_is_that_of_the_objective(runs):
    values = class_uncertainty.measure(runs)
    check(values, class_uncertainty.FIGURE, "rank correlation")
    run = runs.grouping_run()
    order = [run.classes.index(name) for name in values.classes]
    np.testing.assert_allclose(
        values.uncertainty, run.fitted.method.objective.uncertainty.numpy()[order], rtol=1e-5
    )
    np.testing.assert_allclose(
        values.training_error, run.fitted.method.objective.error_rate.numpy()[order], atol=1e-6
    )
    assert list(values.uncertainty) == sorted(values.uncertainty, reverse=True)
    counts = runs.data.messages.filter(pl.col("split") == "train")["event"].to_list()
    assert values.counts == tuple(counts.count(name) for name in values.classes)


def test_class_sizes_count_the_split(runs, small_sample):
    values = class_sizes.measure(runs)
    check(values, class_sizes.FIGURE, "times as many")
    assert sum(values.train) == (small_sample["split"] == "train").sum()
    assert sum(values.test) == (small_sample["split"] == "test").sum()
    assert values.train[0] + values.val[0] + values.test[0] >= values.train[-1]


def test_groups_are_the_same_for_every_method(runs):
    values = groups.measure(runs)
    check(values, groups.FIGURE, "uncertain")
    assert len(values.results) == len(GROUPS) * 2
    assert sum(each[0] for each in values.classes.values()) == 5
    run = runs.fitted(runs.methods[0])
    found = run.predict("test").predicted == run.truth("test")
    per_class = run.class_means(found, run.truth("test"))
    members = runs.groups().members("uncertain")
    (own,) = (e for e in values.results if (e.method, e.group) == ("ce", "uncertain"))
    assert own.accuracy.mean == pytest.approx(per_class[members].mean())


def test_tsne_lays_out_the_same_messages_for_each_method(runs, monkeypatch):
    monkeypatch.setattr(tsne, "ITERATIONS", 250)
    values = tsne.measure(runs)
    check(values, tsne.FIGURE, "silhouette")
    assert len(values.events) == 5
    assert [each.method for each in values.maps] == ["ce", "ucl-ec"]
    assert all(len(each.x) == len(values.event) == len(values.part) for each in values.maps)
    assert values.maps == tsne.measure(runs).maps


def test_similarity_by_group(runs):
    values = similarity.measure(runs)
    figure = check(values, similarity.FIGURE, "same event")
    assert len(figure.axes) == len(GROUPS) * 2
    tested = len(runs.fitted(runs.methods[0]).truth("test"))
    assert sum(len(each.intra) for each in values.likeness) == 2 * tested
    assert all(-1 <= x <= 1 + 1e-9 for each in values.likeness for x in each.intra + each.inter)


def test_right_and_wrong_are_all_validation_messages(runs):
    values = right_wrong.measure(runs)
    check(values, right_wrong.FIGURE, "AUROC")
    held_out = len(runs.fitted(runs.methods[0]).truth("val"))
    assert all(len(each.right) + len(each.wrong) == held_out for each in values.methods)


def test_reliability_before_and_after_calibration(runs):
    values = reliability_curves.measure(runs)
    figure = check(values, reliability_curves.FIGURE, "ECE")
    assert len(figure.axes) == 2
    run = runs.fitted(runs.methods[0])
    tested = len(run.truth("test"))
    assert all(sum(each.messages) == tested for each in values.curves)
    plain, calibrated = values.curves[2:]
    assert (plain.method, plain.kind, calibrated.kind) == (
        "ucl-ec",
        "as the method says",
        "calibrated",
    )
    run = runs.fitted(runs.methods[1])
    right = (run.predict("test").scored_as == run.truth("test")).mean()
    shares = np.average(calibrated.right, weights=calibrated.messages)
    assert shares == pytest.approx(right)
    assert plain.said != calibrated.said


def test_what_is_kept_by_doubt_and_by_vacuity(runs):
    values = risk_coverage_curves.measure(runs)
    check(values, risk_coverage_curves.FIGURE, "can keep")
    assert [(each.method, each.order) for each in values.curves] == [
        ("ce", "doubt"), ("ce", "vacuity"), ("ucl-ec", "doubt"), ("ucl-ec", "vacuity"),
    ]  # fmt: skip
    for each in values.curves:
        run = next(runs.fitted(one) for one in runs.methods if one.name == each.method)
        wrong = run.predict("test").scored_as != run.truth("test")
        assert each.kept[-1] == 1
        assert each.error[-1] == pytest.approx(wrong.mean())


def test_drift_between_batches_and_epochs(small_sample):
    own = Runs.of(small_sample, ["ucl", "ucl-ec"], **OPTIONS)
    values = drift.measure(own)
    check(values, drift.FIGURE, "between batches")
    learned, centroids = values.methods
    assert (learned.prototypes, centroids.prototypes) == ("learned", "centroids")
    batches = learned.batches_per_epoch
    assert batches > 1
    assert len(learned.between_batches) == 3 * batches - 1
    assert len(learned.between_epochs) == 2
    assert learned.settled_batches == learned.between_batches[-2 * batches :]  # epochs 2 and 3
    assert learned.settled_epochs == learned.between_epochs[1:]
    assert min(learned.between_batches) > 0
    moved = np.array(centroids.between_batches).reshape(-1)
    assert (moved > 0).sum() == 2  # only where a new epoch begins
    np.testing.assert_allclose(moved[moved > 0], centroids.between_epochs)


def test_drift_needs_prototypes(runs):
    with pytest.raises(BadSetting, match="no prototypes"):
        drift.drift(runs, runs.methods[0])


def test_sensitivity_keeps_its_runs(small_sample, tmp_path, monkeypatch):
    few = tuple(
        sensitivity.Weight(each.name, each.setting, each.term, each.values[::4])
        for each in sensitivity.WEIGHTS
    )
    monkeypatch.setattr(sensitivity, "WEIGHTS", few)
    told = []
    options = OPTIONS | {"changes": QUICK | {"training.epochs": 1}}
    own = Runs.of(
        small_sample, ["ucl-ec"], seeds=(0, 1), kept=tmp_path, workers=1, watch=told.append, **options
    )  # fmt: skip
    values = sensitivity.measure(own)
    check(values, sensitivity.FIGURE, "λ3")
    assert len(values.points) == 6
    assert all(each.accuracy.runs == 2 for each in values.points)
    tuned = method_settings("ucl-ec", "default", {}, {}).loss
    weights = tuned.calibration_weight, tuned.contrastive_weight, tuned.agreement_weight
    assert values.own == dict(zip(("λ1", "λ2", "λ3"), weights, strict=True))
    assert told[-1].startswith("12 of 12 runs: ucl-ec, ")
    told.clear()
    assert sensitivity.measure(own) == values
    assert told == ["12 of 12 runs"]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"name": "class-sizes", "methods": ["ce"]}, "other methods"),
        ({"name": "groups", "view": "entity"}, "another view"),
        ({"name": "tsne", "seeds": (0, 1)}, "several seeds"),
        ({"name": "groups", "source": None}, "needs messages"),
        ({"name": "tsne", "methods": ["ce"], "view": "place"}, "no view 'place'"),
        ({"name": "class-sizes", "split": "sideways"}, "no split"),
    ],
)
def test_what_a_figure_cannot_show_is_refused(small_sample, options, says):
    asked = {"source": small_sample} | OPTIONS | options
    with pytest.raises(BadSetting, match=says):
        make_figure(**asked)


def test_unknown_figures_are_named():
    with pytest.raises(UnknownName, match="tsne"):
        make_figure("tsme")


def test_every_registered_figure_can_be_loaded():
    for entry in FIGURES:
        assert callable(entry.load().measure)
