"""A bundle's manifest: what it must say, and its own checksum."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from eventide.errors import CannotWrite, DamagedBundle

FORMAT_VERSION = 2
"""Version 1 had no checksum of the manifest itself."""
MANIFEST = "manifest.json"


def serialised(value: Mapping[str, Any], path: Path, indent: int | None = None) -> str:
    """Put a manifest into JSON, or say that it holds what JSON cannot."""
    try:
        return json.dumps(dict(value), indent=indent, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise CannotWrite(
            f"the manifest cannot hold a value: {error}",
            where=str(path),
            next_step="give plain, finite values: numbers, strings, lists",
        ) from None


def sealed(manifest: Mapping[str, Any], path: Path) -> bytes:
    """Return a manifest's file: what it says, and the checksum of that as it will be read."""
    said = json.loads(serialised(manifest, path))
    whole = serialised({**said, "sha256": _checksum(said)}, path, indent=1)
    return whole.encode("utf-8", "surrogatepass")


def _checksum(manifest: Mapping[str, Any]) -> str:
    """Digest a manifest without its own checksum, however its text is laid out."""
    rest = {key: value for key, value in manifest.items() if key != "sha256"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def checked_manifest(content: bytes, path: Path, kind: str) -> dict[str, Any]:
    """Read a manifest of ``kind``, and check its version, its checksum and its lists."""
    try:
        manifest = json.loads(content)
        known = manifest["format"], manifest["version"]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise damaged(path, f"{MANIFEST} cannot be read ({error})") from None
    if known[0] != f"eventide-{kind}":
        raise DamagedBundle(
            f"this is a {known[0]!r}, not an eventide {kind}",
            where=str(path),
            next_step=f"give a directory that an eventide {kind} was saved to",
        )
    if known[1] not in (1, FORMAT_VERSION):
        raise DamagedBundle(
            f"format version {known[1]}; this eventide reads versions up to {FORMAT_VERSION}",
            where=str(path),
            next_step="install the eventide release that wrote it, or a newer one",
        )
    if known[1] != 1 and manifest.get("sha256") != _checksum(manifest):
        raise damaged(path, f"{MANIFEST} was changed: it differs from its own checksum")
    if not isinstance(manifest.get("facts"), dict) or not _lists_files(manifest.get("files")):
        raise damaged(path, f"{MANIFEST} does not list its files and facts")
    return dict(manifest)


def _lists_files(files: object) -> bool:
    """Whether files are given by plain names: none reaches out of the directory."""
    return isinstance(files, dict) and all(
        isinstance(entry, dict)
        and entry.keys() == {"bytes", "sha256"}
        and name not in ("", ".", "..", MANIFEST)
        and not set(name) & set("/\\:\0")
        for name, entry in files.items()
    )


def damaged(path: Path, what: str) -> DamagedBundle:
    """Return the error of a bundle that is not what was written."""
    return DamagedBundle(
        what,
        where=str(path),
        next_step="copy the whole directory again from its origin, or train again",
    )
