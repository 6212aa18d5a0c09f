"""Bundles on disk: a directory of safetensors with a manifest, whole or not there at all.

Models and checkpoints use the same format: ``manifest.json`` names every other file with its size
and sha256. A bundle is written to a temporary sibling, flushed, and moved into place; an older
bundle steps aside first and is put back by the next reader if the writer died in between. So a
crash leaves the old or the new bundle, never half of one. Nothing is ever unpickled.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eventide.errors import DamagedBundle

Arrays = Mapping[str, NDArray[Any]]
FORMAT_VERSION = 1
MANIFEST = "manifest.json"


@dataclass(frozen=True)
class Bundle:
    """What was read back: the manifest's own facts and the arrays of each file."""

    facts: dict[str, Any]
    arrays: dict[str, dict[str, NDArray[Any]]]


@contextmanager
def atomic_file(path: Path) -> Iterator[Path]:
    """Give a temporary sibling to write; move it to ``path`` when the block ends well."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=path.suffix)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        _flush(temporary)
        temporary.chmod(0o644)
        temporary.replace(path)
        _flush(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def write_bundle(
    path: Path,
    kind: str,
    facts: Mapping[str, Any],
    arrays: Mapping[str, Arrays],
    texts: Mapping[str, str] | None = None,
) -> None:
    """Write a bundle of ``kind`` to the directory ``path``, replacing an older one whole."""
    from safetensors.numpy import save_file

    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}."))
    try:
        for name, content in arrays.items():
            ready = {key: np.ascontiguousarray(value) for key, value in content.items()}
            save_file(ready, temporary / f"{name}.safetensors")
        for name, text in (texts or {}).items():
            (temporary / name).write_text(text, encoding="utf-8")
        manifest = {
            "format": f"eventide-{kind}",
            "version": FORMAT_VERSION,
            "files": {file.name: _fingerprint(file) for file in sorted(temporary.iterdir())},
            "facts": dict(facts),
        }
        text = json.dumps(manifest, indent=1, ensure_ascii=False, allow_nan=False)
        (temporary / MANIFEST).write_text(text, encoding="utf-8")
        for file in temporary.iterdir():
            _flush(file)
        _flush(temporary)
        temporary.chmod(0o755)
        _swap_in(temporary, path)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def read_bundle(path: Path, kind: str) -> Bundle:
    """Read a bundle of ``kind`` after checking its version, sizes and checksums."""
    from safetensors.numpy import load_file

    _finish_swap(path)
    manifest = _manifest(path, kind)
    arrays = {}
    for name, expected in manifest["files"].items():
        file = path / name
        if not file.is_file() or _fingerprint(file) != expected:
            raise DamagedBundle(
                f"{name} is missing or differs from what the manifest promises",
                where=str(path),
                next_step="copy the whole directory again from its origin, or train again",
            )
        if file.suffix == ".safetensors":
            arrays[file.stem] = load_file(file)
    return Bundle(manifest["facts"], arrays)


def is_bundle(path: Path) -> bool:
    """Whether ``path`` holds a bundle (or one whose writer died while moving it into place)."""
    return (path / MANIFEST).is_file() or (_aside(path) / MANIFEST).is_file()


def _manifest(path: Path, kind: str) -> dict[str, Any]:
    try:
        manifest = json.loads((path / MANIFEST).read_text(encoding="utf-8"))
        known = manifest["format"], manifest["version"], manifest["files"], manifest["facts"]
    except FileNotFoundError:
        raise DamagedBundle(
            f"no {kind} here: {MANIFEST} is missing",
            where=str(path),
            next_step=f"give the directory that holds the {kind}'s {MANIFEST}",
        ) from None
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise DamagedBundle(
            f"{MANIFEST} cannot be read ({error})",
            where=str(path),
            next_step="copy the whole directory again from its origin, or train again",
        ) from None
    if known[0] != f"eventide-{kind}":
        raise DamagedBundle(
            f"this is a {known[0]!r}, not an eventide {kind}",
            where=str(path),
            next_step=f"give a directory that an eventide {kind} was saved to",
        )
    if known[1] != FORMAT_VERSION:
        raise DamagedBundle(
            f"format version {known[1]}; this eventide reads version {FORMAT_VERSION}",
            where=str(path),
            next_step="install the eventide release that wrote it, or a newer one",
        )
    return dict(manifest)


def _fingerprint(file: Path) -> dict[str, Any]:
    with file.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return {"bytes": file.stat().st_size, "sha256": digest}


def _aside(path: Path) -> Path:
    return path.with_name(f".{path.name}.previous")


def _swap_in(temporary: Path, path: Path) -> None:
    _finish_swap(path)
    aside = _aside(path)
    if path.exists():
        if not (path / MANIFEST).is_file() and any(path.iterdir()):
            raise DamagedBundle(
                "the directory holds something else and would be overwritten",
                where=str(path),
                next_step="choose an empty or new directory",
            )
        path.rename(aside)
    temporary.rename(path)
    _flush(path.parent)
    shutil.rmtree(aside, ignore_errors=True)


def _finish_swap(path: Path) -> None:
    """Put the older bundle back if a writer died between the two renames."""
    aside = _aside(path)
    if aside.exists():
        if path.exists():
            shutil.rmtree(aside, ignore_errors=True)
        else:
            aside.rename(path)


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
