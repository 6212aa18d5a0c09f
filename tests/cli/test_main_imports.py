"""What a command imports: a second of every start would go into packages that it does not need."""

import subprocess
import sys

import polars as pl
import pytest

from eventide.model import EventClassifier

NEVER = ("sklearn", "scipy.stats", "pandas", "matplotlib", "transformers", "sympy", "ray")
"""What no answer of a saved model needs."""

REPORT = "; print(*[name for name in sys.argv[1].split(',') if name in sys.modules])"
COMMAND = """
import sys
asked, sys.argv = sys.argv[1].split(","), ["eventide", *sys.argv[2:]]
from eventide.cli.main import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
print(*[name for name in asked if name in sys.modules])
"""


def imported(code, names, *arguments, folder):
    """Run code in a process of its own; return which of the modules it has imported at its end."""
    words = [sys.executable, "-c", code, ",".join(names), *map(str, arguments)]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1].split()


@pytest.fixture(scope="module")
def folder(small_sample, tmp_path_factory):
    """A folder with a model and messages that it does not know."""
    folder = tmp_path_factory.mktemp("start")
    model = EventClassifier(training__epochs=1).fit(small_sample)
    model.save(folder / "model")
    fresh = small_sample.select(pl.col("id") + "-new", "text", "created_at", "user")
    fresh.head(20).write_ndjson(folder / "new.jsonl")
    return folder


def test_a_loaded_model_answers_without_scikit_learn(folder):
    code = "import sys, eventide; eventide.load('model').opinions('new.jsonl')" + REPORT
    assert imported(code, ("polars", *NEVER), folder=folder) == ["polars"]


@pytest.mark.parametrize("words", [(), ("--json",), ("--out", "opinions.csv")], ids=str)
def test_assign_imports_torch_and_no_scikit_learn(folder, words):
    arguments = ("assign", "model", "new.jsonl", *words)
    assert imported(COMMAND, ("torch", *NEVER), *arguments, folder=folder) == ["torch"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("--help",),
        ("--version",),
        ("assign", "--help"),
        ("train", "--help"),
        ("methods",),
        ("methods", "--settings"),
        ("data", "list"),
        ("data", "sample", "--out", "sample.parquet"),
        ("check", "new.jsonl"),
        ("serve", "--help"),
        ("token", "list", "--store", "desk.sqlite"),
    ],
    ids=" ".join,
)
def test_what_computes_nothing_imports_no_torch(folder, arguments):
    assert imported(COMMAND, ("torch", *NEVER), *arguments, folder=folder) == []
