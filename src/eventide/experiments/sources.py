"""Which code makes a run's figures: a digest of its sources, and the commit they are of.

A run is kept under the digest, so that edited code never gets the figures of older code. Reading
the sources takes a few milliseconds.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from hashlib import blake2b
from importlib import import_module
from importlib.util import resolve_name
from pathlib import Path
from secrets import token_bytes
from types import ModuleType

import eventide

PACKAGE = Path(eventide.__file__).parent
WITHOUT_INFLUENCE = {
    "__init__.py", "__main__.py", "cli", "cluster", "errors.py", "experiments", "model",
    "outputs.py", "progress.py", "reports", "safe_text.py", "serving", "storage", "testing",
}  # fmt: skip
"""Parts that no figure of a run depends on. Every other part counts, a new one too."""
INSTALLED = {"site-packages", "dist-packages"}
RUNNING = (
    "experiments/fitted_variant.py",
    "experiments/prepared.py",
    "experiments/regime_draws.py",
    "experiments/regimes.py",
    "experiments/run.py",
    "model/adviser.py",
    "model/fitted.py",
    "model/inference.py",
    "model/novelty_scores.py",
    "model/validation_predictions.py",
)
"""Files of these packages that make a run all the same."""


def digest_of(targets: Iterable[str]) -> str:
    """Return the digest of eventide's own code and of these targets ("module:symbol") elsewhere."""
    own = package_digest()
    foreign = sorted({target.partition(":")[0] for target in targets if not _is_ours(target)})
    if not foreign:
        return own
    digest = blake2b(own.encode(), digest_size=8)
    for name in foreign:
        for module in _with_imports(import_module(name)):
            digest.update(_source(module))
    return digest.hexdigest()


@cache
def package_digest() -> str:
    """Return the digest of all files of this package that can change a figure, as first read."""
    return _digest_now()


def is_edited() -> bool:
    """Whether the files are others now than when they were first read."""
    return _digest_now() != package_digest()


def _digest_now() -> str:
    digest = blake2b(digest_size=8)
    for path in deciding_files():
        content = path.read_bytes()
        digest.update(f"{path.relative_to(PACKAGE).as_posix()}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


def deciding_files() -> list[Path]:
    """List the files that the digest covers: sources, and the word lists and tables beside them."""
    found = [PACKAGE / name for name in RUNNING]
    for part in PACKAGE.iterdir():
        if part.name not in WITHOUT_INFLUENCE:
            found += part.rglob("*") if part.is_dir() else [part]
    return sorted(path for path in found if path.is_file() and path.suffix != ".pyc")


@cache
def commit() -> str:
    """Name the code for people: the checkout's commit, "+changes" if edited, else the version."""
    known = f"eventide {eventide.__version__}"
    # The package may lie in another repository, which then does not track it.
    if _git("ls-files", "--error-unmatch", "__init__.py") is None:
        return known
    found, edited = _git("rev-parse", "--short", "HEAD"), _git("status", "--porcelain", "--", ".")
    if not found or edited is None:
        return known
    return found + ("+changes" if edited else "")


def code_name(commits: Iterable[str]) -> str:
    """Put commits and versions into words, each once; of many the latest three.

    >>> code_name(["abc1234", "abc1234"]), code_name(["eventide 0.1.0", "abc1234+changes"])
    ('commit abc1234', 'eventide 0.1.0, commit abc1234+changes')
    """
    names = [f"commit {each}" if " " not in each else each for each in dict.fromkeys(commits)]
    more = [f"{len(names) - 3} more"] if len(names) > 3 else []
    return ", ".join([*names[-3:], *more])


def _git(*words: str) -> str | None:
    """Ask git about the package's folder; None where it cannot answer."""
    try:
        answer = subprocess.run(
            ["git", "-C", str(PACKAGE), *words],
            capture_output=True,
            text=True,
            timeout=10,
            check=True,
            env={**os.environ, "GIT_OPTIONAL_LOCKS": "0"},
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.stdout.strip()


def _is_ours(name: str) -> bool:
    return name.partition(":")[0].partition(".")[0] == eventide.__name__


def _with_imports(module: ModuleType) -> list[ModuleType]:
    """Return a module and those of its own package or folder that it imports, and they import."""
    found, waiting = {module.__name__: module}, [module]
    root = _root(module)
    while waiting:
        for name in _imported(waiting.pop()):
            other = sys.modules.get(name)
            if other is not None and name not in found and _is_below(_file(other), root):
                found[name] = other
                waiting.append(other)
    return [found[name] for name in sorted(found)]


def _root(module: ModuleType) -> Path | None:
    """Return the folder that holds a module's own code; None for an installed file alone."""
    top = sys.modules.get(module.__name__.partition(".")[0], module)
    file = _file(top) or _file(module)
    return None if file is None or file.parent.name in INSTALLED else file.parent


def _is_below(file: Path | None, root: Path | None) -> bool:
    """Whether a file is of the code in ``root``, and not of an environment that lies in there."""
    if file is None or root is None or not file.is_relative_to(root) or PACKAGE in file.parents:
        return False
    return not set(file.relative_to(root).parts) & INSTALLED


def _imported(module: ModuleType) -> Iterator[str]:
    """Name everything that a module's source imports, modules or not."""
    if _file(module) is None:
        return
    package = module.__package__ or ""
    for node in ast.walk(ast.parse(_source(module))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            base = resolve_name(base, package) if node.level and package else base
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)


def _file(module: ModuleType) -> Path | None:
    """Return where a module's source is; None where it has none."""
    path = Path(getattr(module, "__file__", None) or "")
    return path.resolve() if path.suffix == ".py" and path.is_file() else None


def _source(module: ModuleType) -> bytes:
    """Return a module's source; where there is none (a console), something never seen again."""
    path = _file(module)
    return token_bytes(16) if path is None else path.read_bytes()
