"""docs/adding-a-method.md keeps its word: one module, one line, one test, and nothing else."""

import re
import sys
from types import ModuleType

from eventide.methods import METHODS
from tree import ROOT

PAGE = ROOT / "docs" / "adding-a-method.md"
BLOCK = re.compile(r"^```py(?:thon)?\n(.*?)^```", re.MULTILINE | re.DOTALL)
NAME = "eventide.methods.long_tail.poly"


def test_the_example_is_a_method_like_any_other(small_sample, monkeypatch):
    module, line, test = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    assert len([each for each in module.splitlines() if each]) <= 30
    assert len(line.splitlines()) == 1
    poly = ModuleType(NAME)
    exec(compile(module, str(PAGE), "exec"), poly.__dict__)
    monkeypatch.setitem(sys.modules, NAME, poly)
    monkeypatch.setattr(METHODS, "_entries", dict(METHODS._entries))
    exec(compile(line, str(PAGE), "exec"), {"METHODS": METHODS})
    names: dict[str, object] = {}
    exec(compile(test, str(PAGE), "exec"), names)
    names["test_poly"](small_sample)
