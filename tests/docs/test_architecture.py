"""docs/architecture.md is true: what it names exists, and what it says to add can be added."""

import re
import sys
import tomllib
from types import ModuleType

import pytest

from eventide.losses import LOSSES
from eventide.methods import METHODS
from tree import ROOT

PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
SOURCE = ROOT / "src" / "eventide"
BLOCK = re.compile(r"^```py\n(.*?)^```", re.MULTILINE | re.DOTALL)
ADDED = {
    "A loss, word for word": (LOSSES, "eventide.losses", "contrastive.class_cosine"),
    "A method, word for word": (METHODS, "eventide.methods", "long_tail.poly"),
}


def section(title):
    """Return what stands below a heading, up to the next one of its level."""
    return PAGE.partition(f"### {title}\n")[2].partition("\n### ")[0]


@pytest.mark.parametrize("title", ADDED)
def test_adding_something_touches_three_files(title, small_sample, monkeypatch):
    """A module, a line and a test, each as the page prints it, and nothing else."""
    registry, package, module_name = ADDED[title]
    module, line, test = BLOCK.findall(section(title))
    files = re.findall(r"`((?:src|tests)/[\w/]+\.py)`", section(title))
    assert len(files) == 3
    assert all((ROOT / file).parent.is_dir() for file in files)
    assert len(line.splitlines()) == 1
    name = f"{package}.{module_name}"
    added = ModuleType(name)
    exec(compile(module, name, "exec"), added.__dict__)
    monkeypatch.setitem(sys.modules, name, added)
    monkeypatch.setattr(registry, "_entries", dict(registry._entries))
    exec(compile(line, name, "exec"), sys.modules[package].__dict__)
    names: dict[str, object] = {}
    exec(compile(test, name, "exec"), names)
    (function,) = (each for key, each in names.items() if key.startswith("test_"))
    function(small_sample)


def test_every_module_of_the_walks_exists():
    walks = PAGE.partition("## How a message walks through `train`")[2].partition("## Words")[0]
    named = re.findall(r"`([a-z_0-9]+/(?:[a-z_0-9]+/)*(?:[a-z_0-9]+\.py)?)`", walks)
    assert len(named) > 25
    assert [each for each in named if not (SOURCE / each).exists()] == []


def test_the_tree_names_every_room_in_the_order_of_the_layers():
    tree = PAGE.partition("## The tree")[2].partition("`tests/` has")[0]
    rows = [line.split("|")[1] for line in tree.splitlines() if line.startswith("| `")]
    shown = [set(re.findall(r"`([a-z_]+)/?`", row)) for row in rows]
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = config["tool"]["importlinter"]["contracts"]
    layers = [set(layer.split(" | ")) for layer in reversed(contract["layers"])]
    assert set().union(*shown) == set().union(*layers)
    height = {room: at for at, layer in enumerate(layers) for room in layer}
    heights = [min(height[room] for room in row) for row in shown]
    assert heights == sorted(heights)


def test_the_glossary_is_that_of_contributing():
    ours = PAGE.partition("## Words")[2].partition("## How to add")[0].strip()
    assert ours.startswith("| word |")
    assert ours in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
