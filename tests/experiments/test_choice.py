"""Names and groups: what is asked for, in which order, and what there is not."""

import pytest

from eventide.errors import BadSetting
from eventide.experiments import choose
from eventide.experiments.choice import groups, members
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


def test_a_group_has_an_older_name():
    assert choose("yardsticks") == choose("baselines")
