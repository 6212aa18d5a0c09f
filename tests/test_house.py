"""Rules of the house that a tool can check: names, the mirror of tests, prose, layers, live tests."""

import ast
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from tree import ROOT

SOURCE = ROOT / "src" / "eventide"
TESTS = ROOT / "tests"
MODULES = sorted(SOURCE.rglob("*.py"))
TEST_FILES = sorted(TESTS.rglob("test_*.py"))
PAGES = sorted(page for folder in (".", "docs", "paper") for page in (ROOT / folder).glob("*.md"))
"""Pages that people write; those under docs/results are written by `compare` and `claims`."""
WIDEST = 120  # characters of a line of prose
FREE_FOLDERS = ("paper", "docs", "failures", "support")  # these mirror no room
FREE_FILES = (
    "test_benchmarks.py",
    "test_house.py",
    "test_eventide.py",
)  # the whole tree, the whole package


def relative(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_no_module_name_twice() -> None:
    """A stranger who searches for a name finds one file; verbs of `cli/` may be named like a room's."""
    places = defaultdict(list)
    for path in MODULES:
        if path.stem not in ("__init__", "__main__", "settings") and path.parent.name != "cli":
            places[path.stem].append(relative(path))
    twice = {name: found for name, found in places.items() if len(found) > 1}
    assert twice == {}


def test_no_public_class_name_twice() -> None:
    places = defaultdict(list)
    for path in MODULES:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(relative(path))
    twice = {name: found for name, found in places.items() if len(found) > 1}
    assert twice == {}


def mirrored(path: Path) -> bool:
    """Whether a test file is ``tests/<room>/test_<module>[_<aspect>].py``, or that of the package."""
    room = SOURCE / path.parent.relative_to(TESTS)
    if not room.is_dir():
        return False
    names = {room.name} | {child.stem for child in room.iterdir() if not child.name.startswith("_")}
    words = path.stem.removeprefix("test_").split("_")
    return bool(names & {"_".join(words[:count]) for count in range(1, len(words) + 1)})


def test_tests_mirror_the_modules() -> None:
    free = (*FREE_FOLDERS, *FREE_FILES)
    files = [path for path in TEST_FILES if path.relative_to(TESTS).parts[0] not in free]
    assert [relative(path) for path in files if not mirrored(path)] == []


def long_lines(text: str) -> Iterator[tuple[int, int]]:
    """Lines of prose that are too long, with their lengths; code, tables and links are no prose.

    >>> list(long_lines("word " * 30))
    [(1, 149)]
    >>> list(long_lines("| " + "cell | " * 30))
    []
    """
    fenced = False
    for number, line in enumerate(text.splitlines(), start=1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        if fenced or line.lstrip().startswith("|") or line.startswith("    "):
            continue
        bare = re.sub(r"\]\([^)]*\)|<?https?://\S+", "", line).rstrip()
        if len(bare) > WIDEST:
            yield number, len(bare)


def test_lines_of_prose_are_short() -> None:
    pages = {relative(page): [*long_lines(page.read_text(encoding="utf-8"))] for page in PAGES}
    assert {page: lines for page, lines in pages.items() if lines} == {}


def test_layers_name_every_room() -> None:
    """The import contract is exhaustive: each package and module of the top level has its layer."""
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (layers,) = contract["tool"]["importlinter"]["contracts"]
    named = {name.strip() for layer in layers["layers"] for name in re.split(r"[|:]", layer)}
    rooms = {path.stem for path in SOURCE.glob("*.py")} - {"__init__", "__main__"}
    rooms |= {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    assert layers["exhaustive"]
    assert named == rooms


CHECKS = re.compile(r"raises|warns|fail|check(_.*)?|assert_.*|(.*_)?allclose")


def checks_of(path: Path) -> tuple[dict[str, set[str]], set[str]]:
    """Names that each function of a file uses, and the functions that check something themselves."""
    uses: dict[str, set[str]] = {}
    firm = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.FunctionDef):
            continue
        inside = list(ast.walk(node))
        used = {each.id for each in inside if isinstance(each, ast.Name)}
        used |= {each.attr for each in inside if isinstance(each, ast.Attribute)}
        uses[node.name] = used
        if any(isinstance(each, ast.Assert) for each in inside) or any(map(CHECKS.fullmatch, used)):
            firm.add(node.name)
    return uses, firm


def test_every_test_can_fail() -> None:
    """A test asserts, expects an error, or calls a helper of the tests that does."""
    helpers: dict[str, set[str]] = {}
    helping: set[str] = set()
    for path in (TESTS / "support").glob("*.py"):
        uses, firm = checks_of(path)
        helpers |= uses
        helping |= firm
    idle = []
    for path in TEST_FILES:
        if path.parent.name in FREE_FOLDERS:  # snippets and cases bring their own asserts
            continue
        own, firm = checks_of(path)
        known, firm = helpers | own, helping | firm
        while more := {name for name, used in known.items() if used & firm} - firm:
            firm |= more
        fixtures = {name for used in own.values() for name in used} & set(own)
        tests = [name for name in own if name.startswith("test_") and name not in fixtures]
        idle += [f"{relative(path)}: {name}" for name in tests if name not in firm]
    assert idle == []
