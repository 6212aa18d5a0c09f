"""paper/equations.toml accounts for every equation, algorithm line and ablation switch."""

from __future__ import annotations

import ast
import tomllib
from importlib import import_module
from typing import Any, get_args

import pytest

from eventide.losses.settings import CalibrationName, MarginName, PrototypeName
from tex import ROOT, algorithm_lines, equations, source

LEDGER = tomllib.loads((ROOT / "paper" / "equations.toml").read_text(encoding="utf-8"))
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
    printed = equations(source())
    assert len(printed) == 14
    named = [label for label, _ in printed if label]
    assert len(named) == 8
    fragments = {k: e["fragment"] for k, e in LEDGER["equations"].items() if "fragment" in e}
    for label, body in printed:
        fitting = [name for name, fragment in fragments.items() if fragment in body]
        if label:
            assert label in LEDGER["equations"], f"{label} has no entry"
        else:
            assert len(fitting) == 1, f"one entry should describe {body!r}, found {fitting}"
            named += fitting
    in_text = [name for name, entry in LEDGER["equations"].items() if "text" in entry]
    assert sorted(named + in_text) == sorted(LEDGER["equations"])


def test_formulas_inside_the_text_are_still_there():
    text = source()
    for name, entry in LEDGER["equations"].items():
        assert entry.get("text", "") in text, name
    assert "long_tail" in LEDGER["equations"]


def test_every_line_of_the_algorithm_has_an_entry():
    lines = algorithm_lines(source())
    assert len(lines) == 20
    assert list(LEDGER["algorithm"]) == [str(number) for number in range(1, 21)]
    for line, entry in zip(lines, LEDGER["algorithm"].values(), strict=True):
        assert line.startswith(entry["fragment"])


def test_every_ablation_switch_has_an_entry():
    expected = {f"margin={name}" for name in get_args(MarginName)}
    expected |= {f"prototypes={name}" for name in get_args(PrototypeName)}
    expected |= {f"calibration={name}" for name in get_args(CalibrationName)}
    expected |= {f"class_balanced={state}" for state in (True, False)}
    assert set(LEDGER["switches"]) == expected


def test_a_missing_symbol_or_test_is_noticed():
    assert missing({"symbols": ["eventide.nowhere:x", "eventide.errors:Nope.x"], "tests": []})
    assert missing({"symbols": [], "tests": ["tests/paper/test_ledger.py::test_nothing"]})
    assert not missing({"symbols": ["eventide.errors:InputError"], "tests": []})
