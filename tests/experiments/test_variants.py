"""Ablations, controls and what makes a variant itself."""

import numpy as np
import polars as pl

from eventide.experiments import Variant
from eventide.experiments.variants import controls, grid, named_rows
from eventide.graphs.purity import count_edges
from eventide.graphs.views import incidence
from eventide.losses.settings import ablation


def test_named_ablations_have_the_settings_of_their_objective():
    rows = {each.name: each.settings("paper", {}).loss for each in named_rows()}
    assert rows["psc+dm"] == ablation("psc+dm")
    assert rows["psc-ec+m"] == ablation("psc+m", centroids=True)
    assert rows["ucl-ec-without-euc"] == ablation("ucl-without-euc", centroids=True)


def test_the_grid_is_complete_and_its_points_differ():
    points = [each.settings("paper", {}).loss for each in grid()]
    facts = {(p.margin, p.prototypes, p.calibration, p.class_balanced) for p in points}
    assert len(facts) == len(points) == 5 * 2 * 2 * 2


def test_what_makes_a_variant_itself_wins_over_changes_for_all():
    variant = Variant("x", "ucl", {"loss.margin": "fixed"})
    settings = variant.settings("paper", {"loss.margin": "none", "training.epochs": 7})
    assert (settings.loss.margin, settings.training.epochs) == ("fixed", 7)


def test_without_graph_nobody_has_a_neighbour(small_sample):
    found = {each.name: each for each in controls()}
    for view in found["ucl-ec/no-graph"].graph_views():
        edges = count_edges(incidence(small_sample, view), np.zeros(len(small_sample), np.int64))
        assert edges.edges == 0
    assert [view.name for view in found["ucl-ec/no-graph"].graph_views()] == [
        "hashtag", "entity", "user",
    ]  # fmt: skip


def test_the_author_joins_the_user_view():
    views = {each.name: each.views for each in controls()}
    assert views["ucl-ec/author"]["user"] == ("mentions", "user")
    assert views["ucl-ec/hashtag+user"].keys() == {"hashtag", "user"}
    pairs = [name for name, view in views.items() if view and len(view) == 2]
    assert len(pairs) == 3
    frame = pl.DataFrame({"mentions": [[], []], "user": ["ann", "ann"]})
    author = next(each for each in controls() if each.name == "ucl-ec/author").graph_views()[-1]
    assert count_edges(incidence(frame, author), np.zeros(2, np.int64)).edges == 1
