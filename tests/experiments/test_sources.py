"""Row 7: a run is kept under the code that made it, and tables say which code that was."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from eventide.experiments import choose, compare, sources
from eventide.experiments.run_log import RunLog
from processes import LONG


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """A copy of the package that may be edited; the digest is that of the copy."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(sources.PACKAGE, tmp_path / "eventide", ignore=ignored)
    monkeypatch.setattr(sources, "PACKAGE", tmp_path / "eventide")
    monkeypatch.setattr(sources, "package_digest", sources._digest_now)
    return tmp_path / "eventide"


@pytest.mark.parametrize(
    "file",
    [
        "losses/total.py", "data/splits.py", "methods/long_tail/bcl.py", "settings.py",
        "experiments/run.py", "model/fitted.py", "scoring/metrics.py", "brand_new/module.py",
        "features/elements/words.txt",
    ],
)  # fmt: skip
def test_an_edit_that_may_change_a_figure_changes_the_digest(copy, file):
    """Row 7: edited losses (say) are other code."""
    before = sources.digest_of(["eventide.methods.ucl:Ucl"])
    assert sources.digest_of(["eventide.methods.ucl:Ucl"]) == before
    (copy / file).parent.mkdir(exist_ok=True)
    with (copy / file).open("a") as opened:
        opened.write("\n# edited\n")
    assert sources.digest_of(["eventide.methods.ucl:Ucl"]) != before


@pytest.mark.parametrize(
    "file",
    ["cli/compare.py", "reports/tables/table_formats.py", "experiments/results.py", "errors.py"],
)
def test_an_edit_of_words_and_tables_does_not(copy, file):
    before = sources.digest_of([])
    with (copy / file).open("a") as opened:
        opened.write("\n# edited\n")
    (copy / "losses" / "__pycache__").mkdir()
    (copy / "losses" / "__pycache__" / "total.pyc").write_bytes(b"compiled")
    assert sources.digest_of([]) == before


def test_what_is_left_out_of_the_digest_takes_no_part_in_a_run():
    """Row 7: nothing that a run imports lies in a package that the digest leaves out."""
    script = (
        "import sys, eventide.experiments.run, eventide.experiments.prepared\n"
        "from eventide.methods import METHODS\n"
        "[entry.load() for entry in METHODS]\n"
        "print(*sorted(m for m in sys.modules if m.startswith('eventide.')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=LONG
    )
    covered = {path.relative_to(sources.PACKAGE) for path in sources.deciding_files()}
    loaded = {Path(*name.split(".")[1:]) for name in done.stdout.split()}
    files = {
        path.relative_to(sources.PACKAGE)
        for each in loaded
        for path in (
            sources.PACKAGE / each.with_suffix(".py"),
            sources.PACKAGE / each / "__init__.py",
        )
        if path.exists()
    }
    # These compute nothing that a run predicts: the facade around it, outputs, records.
    plain = {
        "errors.py",
        "outputs.py",
        "progress.py",
        "safe_text.py",
        "storage",
        "model",
        "novelty",
    }
    records = {"__init__.py", "choice.py", "engine.py", "jobs.py", "regime_results.py", "results.py",
               "run_log.py", "sources.py", "variants.py", "workers.py"}  # fmt: skip
    rest = {path for path in files - covered if path.parts[0] not in plain}
    assert {path for path in rest if path.parts[0] != "experiments"} == set()
    assert {path.name for path in rest} <= records
    assert {Path("model/fitted.py"), Path("model/inference.py")} <= covered
    assert all(file.exists() for file in sources.deciding_files())


def test_a_method_elsewhere_counts_with_what_it_imports(tmp_path, monkeypatch):
    """Row 7: of another package, the module and what it imports of its own count too."""
    package = tmp_path / "plug_of_row_7"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "numbers.py").write_text("EXTRA = 1.0\n")
    (package / "unrelated.py").write_text("")
    (package / "method.py").write_text(
        "from eventide.methods.ucl import Ucl\nfrom .numbers import EXTRA\nclass Mine(Ucl): pass\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    target = "plug_of_row_7.method:Mine"
    before = sources.digest_of([target])
    assert before != sources.digest_of([])
    (package / "unrelated.py").write_text("x = 1\n")
    assert sources.digest_of([target]) == before
    (package / "numbers.py").write_text("EXTRA = 2.0\n")
    assert sources.digest_of([target]) != before


def test_what_has_no_source_is_never_the_same_twice(monkeypatch):
    """Row 7: a method typed into a console cannot be recognised, so its runs are not kept."""
    from types import ModuleType

    monkeypatch.setitem(sys.modules, "typed_in", ModuleType("typed_in"))
    assert sources.digest_of(["typed_in:Mine"]) != sources.digest_of(["typed_in:Mine"])


def git(folder, *words):
    author = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", "-C", str(folder), *author, *words], check=True, capture_output=True)


def test_the_commit_is_that_of_the_packages_checkout(tmp_path, monkeypatch):
    """Row 7: the commit, "+changes" where edited; the version outside of a checkout."""
    from eventide import __version__

    monkeypatch.setattr(sources, "PACKAGE", tmp_path / "eventide")
    commit = sources.commit.__wrapped__
    (tmp_path / "eventide").mkdir()
    assert commit() == f"eventide {__version__}"
    (tmp_path / "eventide" / "__init__.py").write_text("")
    (tmp_path / "notes.txt").write_text("")
    git(tmp_path, "init")
    git(tmp_path, "add", "notes.txt")
    git(tmp_path, "commit", "-m", "somebody else's repository")
    assert commit() == f"eventide {__version__}"
    git(tmp_path, "add", "eventide")
    git(tmp_path, "commit", "-m", "ours")
    clean = commit()
    assert len(clean) >= 7
    (tmp_path / "notes.txt").write_text("changed")
    assert commit() == clean
    (tmp_path / "eventide" / "new.py").write_text("")
    assert commit() == f"{clean}+changes"


def test_runs_of_other_code_are_done_again_and_said(small_sample, quick, tmp_path, monkeypatch):
    """Row 7: after an edit nothing is taken from the file, and a table would say so."""

    def run(code, commit, variants="lr-tfidf"):
        monkeypatch.setattr(sources, "package_digest", lambda: code)
        monkeypatch.setattr(sources, "_digest_now", lambda: code)
        monkeypatch.setattr("eventide.experiments.engine.commit", lambda: commit)
        steps = []
        found = compare(
            small_sample, choose(variants).variants, range(2), out=tmp_path,
            watch=steps.append, **quick,
        )  # fmt: skip
        return found, steps

    first, steps = run("old code", "abc1234")
    assert (steps[0].done, steps[0].notes) == (0, ())
    assert {(row.code, row.commit) for row in first.runs["lr-tfidf"]} == {("old code", "abc1234")}

    again, steps = run("old code", "abc9999")
    assert steps[0].done == 2
    assert "2 of 2 runs kept from before (commit abc1234)" in again.notes
    assert steps[0].notes == again.notes

    edited, steps = run("new code", "def5678+changes")
    assert [step.done for step in steps] == [0, 1, 2]
    assert edited.notes == (
        "2 runs in runs.jsonl are not used: the code was another then (commit abc1234)",
    )
    assert {row.commit for row in edited.runs["lr-tfidf"]} == {"def5678+changes"}
    assert len(RunLog(tmp_path / "runs.jsonl").read()[0]) == 4

    more, _ = run("new code", "def5678", "lr-tfidf,lr-encoder")
    assert "2 of 4 runs kept from before (commit def5678+changes)" in more.notes


def test_runs_beside_an_edit_are_not_kept(small_sample, quick, tmp_path, monkeypatch):
    """Row 7: whoever edits the code while a comparison runs gets these runs again."""

    def edit(step):
        if step.run is not None and step.run.seed == 0:
            monkeypatch.setattr(sources, "_digest_now", lambda: "edited")

    def run(**options):
        variants = choose("lr-tfidf").variants
        return compare(small_sample, variants, range(3), out=tmp_path, **quick, **options)

    first = run(watch=edit)
    assert len(first.runs["lr-tfidf"]) == 3
    assert "2 runs may be of either code" in first.notes[-1]
    monkeypatch.undo()
    again = run()
    assert "1 of 3 runs kept from before" in again.notes[0]
    assert len(again.runs["lr-tfidf"]) == 3


def test_lines_of_earlier_versions_can_be_read(compared, small_sample, quick, tmp_path):
    """Row 7: runs without digest and commit are read, named by their version, and not used."""
    lines = compared.path.read_text().splitlines()
    old = [json.loads(line) for line in lines]
    for row in old:
        del row["code"], row["commit"]
    path = Path(tmp_path) / "runs.jsonl"
    path.write_text("".join(json.dumps(row, separators=(",", ":")) + "\n" for row in old))
    kept, damaged = RunLog(path).read()
    assert (len(kept), damaged) == (len(lines), 0)
    assert kept[0].made_by.startswith("eventide ")
