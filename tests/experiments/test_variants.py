"""Names, groups, ablations and controls."""

import numpy as np
import polars as pl
import pytest

from eventide.errors import BadSetting
from eventide.experiments import Variant, choose
from eventide.experiments.variants import controls, grid, groups, members, named_rows
from eventide.graphs.purity import count_edges
from eventide.graphs.views import incidence
from eventide.losses.settings import ablation
from eventide.methods import METHODS
from eventide.registry import Entry


@pytest.fixture
def registered(monkeypatch):
    """Registers a method for one test."""

    def add(name, group):
        entry = Entry(name, "eventide.methods.ucl:Ucl", "", group)
        monkeypatch.setitem(METHODS._entries, name, entry)

    return add


def test_names_and_groups_can_be_mixed_and_nobody_comes_twice():
    choice = choose("ucl, ce,ucl,controls")
    names = [each.name for each in choice.variants]
    assert names[:2] == ["ucl", "ce"]
    assert len(names) == len(set(names))
    assert choice.groups == ("controls",)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("ucl-ek", "ucl-ec"),
        ("long-tial", "long-tail"),
        ("", "name methods"),
        ("zzz", "groups: .*eventide methods"),
    ],
)
def test_unknown_names_are_bad_settings_with_a_hint(text, says):
    with pytest.raises(BadSetting, match=says):
        choose(text)


def test_what_this_version_lacks_is_left_out_of_groups_and_said(monkeypatch):
    others = {name: entry for name, entry in METHODS._entries.items() if name != "ce"}
    monkeypatch.setattr(METHODS, "_entries", others)
    choice = choose("long-tail")
    assert "ce" not in [each.name for each in choice.variants]
    assert any("ce" in note for note in choice.notes)
    with pytest.raises(BadSetting, match="cannot run"):
        choose("ce")


def test_a_registered_method_joins_its_table_by_itself(registered):
    registered("brand-new", "long-tail")
    registered("own-idea", "beyond")
    names = {group: [each.name for each in members(group)] for group in groups()}
    assert "brand-new" in names["long-tail"]
    assert "brand-new" not in names["event-detection"]
    assert {"brand-new", "own-idea"} <= set(names["all"])
    assert choose("all").groups == ("event-detection", "long-tail")


def test_long_tail_is_in_the_papers_order_with_plus_cb():
    names = [each.name for each in groups()["long-tail"]]
    ours = ["ucl", "ucl+cb", "ucl-ec", "ucl-ec+cb", "ucl-sharp"]
    assert [name for name in names if name in ours] == ours
    balanced = next(each for each in groups()["long-tail"] if each.name == "ucl-ec+cb")
    assert balanced.settings("default", {}).loss.class_balanced
    assert balanced.settings("default", {}).loss.prototypes == "centroids"


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


def test_a_group_has_an_older_name():
    assert choose("yardsticks") == choose("baselines")
