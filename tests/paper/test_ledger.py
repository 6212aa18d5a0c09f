"""paper/equations.toml accounts for every equation, algorithm line and ablation switch."""

from __future__ import annotations

import ast
import inspect
import sys
import tomllib
from importlib import import_module
from types import CodeType
from typing import Any

import pytest

from eventide.losses import MARGINS, PROTOTYPES
from eventide.model import EventClassifier
from tex import ROOT, algorithm_lines, equations, source

LEDGER, LABELS = (
    tomllib.loads((ROOT / "paper" / name).read_text(encoding="utf-8"))
    for name in ("equations.toml", "labels.toml")
)
ENTRIES = {
    f"{kind}.{name}": entry for kind, entries in LEDGER.items() for name, entry in entries.items()
}


def missing(entry: dict[str, Any]) -> list[str]:
    """Symbols and tests of an entry that do not exist."""
    return [s for s in entry["symbols"] if not symbol_exists(s)] + [
        t for t in entry["tests"] if not is_test(t)
    ]


def symbol_exists(path: str) -> bool:
    """Whether ``module:symbol`` or ``module:Class.method`` can be imported."""
    module, _, symbol = path.partition(":")
    try:
        found: Any = import_module(module)
    except ModuleNotFoundError:
        return False
    for part in symbol.split("."):
        if not hasattr(found, part):
            return False
        found = getattr(found, part)
    return True


def is_test(node: str) -> bool:
    """Whether ``file::function`` is a test of ours."""
    file, _, function = node.partition("::")
    path = ROOT / file
    if not (path.exists() and function.startswith("test_")):
        return False
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return any(isinstance(n, ast.FunctionDef) and n.name == function for n in ast.walk(tree))


@pytest.mark.parametrize("name", ENTRIES)
def test_symbols_and_tests_exist(name):
    entry = ENTRIES[name]
    gone = missing(entry)
    if entry.get("pending"):
        assert gone or not entry["tests"], f"{name} is written by now: remove its `pending = true`"
        return
    assert not gone, f"{name} names what does not exist: {', '.join(gone)}"
    assert entry["symbols"], f"{name} names no symbol"
    assert entry["tests"], f"{name} names no test"


def test_every_equation_of_the_paper_has_an_entry():
    """Without the paper's source too: its labels are listed beside the ledger."""
    assert len(LABELS["equations"]) == 14
    assert len(LABELS["labelled"]) == 8
    assert set(LABELS["labelled"]) < set(LABELS["equations"])
    assert sorted(LEDGER["equations"]) == sorted([*LABELS["equations"], *LABELS["in_text"]])
    described = {name for name, entry in LEDGER["equations"].items() if "fragment" in entry}
    assert described == set(LABELS["equations"]) - set(LABELS["labelled"])
    in_text = {name for name, entry in LEDGER["equations"].items() if "text" in entry}
    assert in_text == set(LABELS["in_text"])


def test_every_line_of_the_algorithm_has_an_entry():
    lines = range(1, LABELS["algorithm_lines"] + 1)
    assert list(LEDGER["algorithm"]) == [str(number) for number in lines]


def test_the_listed_equations_are_those_of_the_paper():
    printed = equations(source())
    fragments = {k: e["fragment"] for k, e in LEDGER["equations"].items() if "fragment" in e}
    named = []
    for label, body in printed:
        fitting = [name for name, fragment in fragments.items() if fragment in body]
        assert label or len(fitting) == 1, f"one entry should describe {body!r}, found {fitting}"
        named.append(label or fitting[0])
    assert named == LABELS["equations"]
    assert [label for label, _ in printed if label] == LABELS["labelled"]


def test_formulas_inside_the_text_are_still_there():
    text = source()
    for name, entry in LEDGER["equations"].items():
        assert entry.get("text", "") in text, name
    assert "long_tail" in LEDGER["equations"]


def test_the_listed_lines_are_those_of_the_algorithm():
    lines = algorithm_lines(source())
    assert len(lines) == LABELS["algorithm_lines"]
    for line, entry in zip(lines, LEDGER["algorithm"].values(), strict=True):
        assert line.startswith(entry["fragment"])


def test_every_ablation_switch_has_an_entry():
    expected = {f"margin={name}" for name in MARGINS.names()}
    expected |= {f"prototypes={name}" for name in PROTOTYPES.names()}
    expected |= {f"calibration={name}" for name in ("none", "euc", "misleading")}
    expected |= {f"class_balanced={state}" for state in (True, False)}
    assert set(LEDGER["switches"]) == expected


NO_CODE = {"eventide.graphs.views:PAPER_VIEWS", "eventide.networks.multi_view:ViewOutput"}
"""Tables and records: nothing of them is executed by itself."""
NOT_IN_TRAINING = {"eventide.data.long_tail:long_tail_sizes"}
"""Makes data sets."""


def code_of(path: str) -> set[CodeType]:
    """The code of a function, or of all methods of a class."""
    module, _, symbol = path.partition(":")
    found: Any = import_module(module)
    for part in symbol.split("."):
        found = getattr(found, part)
    if isinstance(found, type):
        members = [getattr(each, "func", each) for each in vars(found).values()]
        members = [getattr(each, "__func__", each) for each in members]
    else:
        members = [inspect.unwrap(getattr(found, "__func__", found))]
    return {each.__code__ for each in members if hasattr(each, "__code__")}


@pytest.fixture(scope="module")
def executed(small_sample) -> set[CodeType]:
    """All Python code that ran while UCL, UCL-EC and an ablation were trained for one epoch."""
    seen: set[CodeType] = set()
    quick = {"training__epochs": 1, "training__batch_size": 150, "encoder": "tfidf-svd:8"}
    changes = {"loss__margin": "none", "loss__extra_terms": {"scl": 0.1}}
    sys.setprofile(lambda frame, event, _: seen.add(frame.f_code) if event == "call" else None)
    try:
        for method, extra in (("ucl", {}), ("ucl-ec", {}), ("ucl", changes)):
            EventClassifier(method=method, **quick, **extra).fit(small_sample).opinions(
                small_sample.head(3)
            )
    finally:
        sys.setprofile(None)
    return seen


@pytest.mark.parametrize(
    "path",
    sorted(
        {
            s
            for kind in ("equations", "algorithm")
            for e in LEDGER[kind].values()
            for s in e["symbols"]
        }
        - NO_CODE
        - NOT_IN_TRAINING
    ),
)
def test_the_symbol_of_an_equation_is_the_code_that_runs(path, executed):
    assert code_of(path) & executed, f"{path} does not run when UCL is trained"


def test_a_missing_symbol_or_test_is_noticed():
    assert missing({"symbols": ["eventide.nowhere:x", "eventide.errors:Nope.x"], "tests": []})
    assert missing({"symbols": [], "tests": ["tests/paper/test_ledger.py::test_nothing"]})
    assert not missing({"symbols": ["eventide.errors:InputError"], "tests": []})
