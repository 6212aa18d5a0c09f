"""Writing bundles: beside the older one first, then in its place."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import stat
from collections.abc import Mapping
from contextlib import suppress
from glob import escape
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eventide.errors import OutputError
from eventide.storage.atomic import aside, expanded, flush, folder_made, replace_folder, writing
from eventide.storage.bundle import (
    FORMAT_VERSION,
    MANIFEST,
    TENSORS,
    bundle_format,
    fingerprint,
    sealed,
    serialised,
)

Arrays = Mapping[str, NDArray[Any]]
UNFINISHED = ".unfinished"


def write_bundle(
    path: Path,
    kind: str,
    facts: Mapping[str, Any],
    arrays: Mapping[str, Arrays],
    texts: Mapping[str, str] | None = None,
) -> None:
    """Write a bundle of ``kind`` to the directory ``path``, replacing an older one whole."""
    path = Path(os.path.realpath(expanded(path)))
    serialised(facts, path)  # what JSON cannot hold is told before anything is written
    with writing(path, f"the {kind}"), folder_made(path.parent):
        temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}{UNFINISHED}")
        try:
            temporary.mkdir()
            _fill(temporary, path, kind, facts, arrays, texts or {})
            _swap_in(temporary, path)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)


def other_files(path: Path) -> list[str]:
    """Name what lies in a directory without being part of a bundle of ours."""
    own: set[str] = set()
    if bundle_format(path) is not None:
        with suppress(OSError, ValueError, TypeError, KeyError):
            own = {MANIFEST, *json.loads((path / MANIFEST).read_bytes())["files"]}
    return sorted(each.name for each in path.iterdir() if each.name not in own)


def tidy(path: Path) -> None:
    """Clear away what a writer left that died; only for whoever holds ``path`` alone."""
    previous = aside(path)
    if bundle_format(previous) is not None:
        if path.exists():
            shutil.rmtree(previous, ignore_errors=True)
        else:
            previous.rename(path)
    for each in path.parent.glob(f".{escape(path.name)}.*{UNFINISHED}"):
        shutil.rmtree(each, ignore_errors=True)


def _fill(
    folder: Path,
    path: Path,
    kind: str,
    facts: Mapping[str, Any],
    arrays: Mapping[str, Arrays],
    texts: Mapping[str, str],
) -> None:
    from safetensors.numpy import save_file

    for name, content in arrays.items():
        ready = {key: np.ascontiguousarray(value) for key, value in content.items()}
        save_file(ready, folder / f"{name}{TENSORS}")
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    manifest = {
        "format": f"eventide-{kind}",
        "version": FORMAT_VERSION,
        "files": {file.name: fingerprint(file) for file in sorted(folder.iterdir())},
        "facts": dict(facts),
    }
    (folder / MANIFEST).write_bytes(sealed(manifest, path))
    readable = stat.S_IMODE(folder.stat().st_mode) & 0o666  # as the umask has it
    for file in folder.iterdir():
        file.chmod(readable)  # some writers make their files for the owner alone
        flush(file)
    flush(folder)


def _swap_in(temporary: Path, path: Path) -> None:
    if path.exists():
        _check_replaceable(path)
    replace_folder(temporary, path)
    flush(path.parent)
    shutil.rmtree(aside(path), ignore_errors=True)


def _check_replaceable(path: Path) -> None:
    """Refuse to replace a directory that holds anything but a bundle of ours."""
    others = other_files(path)
    if others:
        raise OutputError(
            f"the directory holds something else, which would be lost: {others[0]}",
            where=str(path),
            next_step="move it away, or choose an empty or new directory",
        )
