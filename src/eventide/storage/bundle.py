"""A bundle: a folder of arrays and a manifest with the size and checksum of each file."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import stat
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from eventide.errors import CannotWrite, DamagedBundle, UnreadableSource
from eventide.storage.atomic import aside, expanded

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


TENSORS = ".safetensors"
READS = 200
"""How often a reader starts again, at most, while writers replace the bundle under its hands."""


@dataclass(frozen=True)
class Bundle:
    """What was read back: the manifest's own facts, the arrays of each file, and other files."""

    facts: dict[str, Any]
    arrays: dict[str, dict[str, NDArray[Any]]]
    others: dict[str, bytes]


@dataclass(frozen=True)
class _Found:
    """A manifest as it was found: where, what it says, and which file it was."""

    folder: Path
    content: bytes
    identity: tuple[int, int]


class _Replaced(Exception):
    """The bundle was replaced while it was read."""


def read_bundle(path: Path, kind: str) -> Bundle:
    """Read a bundle of ``kind`` after checking its version, names, sizes and checksums."""
    path = Path(os.path.realpath(expanded(path)))
    for _ in range(READS):
        with suppress(_Replaced):
            return _read_once(path, kind)
    raise DamagedBundle(
        f"the {kind} is replaced all the time", where=str(path), next_step="stop the other writers"
    )


def is_bundle(path: Path) -> bool:
    """Whether ``path`` holds a bundle of ours, and not just some file called manifest.json."""
    return bundle_format(path) is not None or bundle_format(aside(path)) is not None


def holds_manifest(path: Path) -> bool:
    """Whether there is a manifest to read, be it sound or damaged."""
    return (path / MANIFEST).exists() or (aside(path) / MANIFEST).exists()


def bundle_format(path: Path) -> str | None:
    """Return the format that a folder's manifest names, if it is one of ours."""
    try:
        with open_plain(path / MANIFEST) as stream:
            name = json.loads(stream.read())["format"]
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None
    return name if isinstance(name, str) and name.startswith("eventide-") else None


def fingerprint(file: Path) -> dict[str, Any]:
    """Measure a file as a manifest lists it."""
    with file.open("rb") as stream:
        return _stream_fingerprint(stream)


def _read_once(path: Path, kind: str) -> Bundle:
    found = _find(path, kind)
    manifest = checked_manifest(found.content, path, kind)
    with ExitStack() as stack:
        # All are opened at once: an open file stays whole, whatever happens to its directory.
        streams = {}
        for name in manifest["files"]:
            try:
                streams[name] = stack.enter_context(open_plain(found.folder / name))
            except FileNotFoundError:
                _check_replaced(found, path, kind)
                raise damaged(path, f"{name} is missing") from None
            except OSError as error:
                raise _unopened(path, name, error) from None
        for name, expected in manifest["files"].items():
            if _stream_fingerprint(streams[name]) != expected:
                _check_replaced(found, path, kind)
                raise damaged(path, f"{name} differs from what the manifest promises")
        return _loaded(found.folder, manifest["facts"], streams, path)


def _loaded(
    folder: Path, facts: dict[str, Any], streams: Mapping[str, BufferedReader], path: Path
) -> Bundle:
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    arrays, others = {}, {}
    for name, stream in streams.items():
        if not name.endswith(TENSORS):
            stream.seek(0)
            others[name] = stream.read()
            continue
        # The very file that was checked, even if its name means another one by now.
        opened = Path(f"/dev/fd/{stream.fileno()}")
        try:
            arrays[name.removesuffix(TENSORS)] = load_file(
                opened if opened.exists() else folder / name
            )
        except (SafetensorError, KeyError, TypeError, ValueError) as error:
            raise damaged(path, f"{name} holds no arrays ({error})") from None
    return Bundle(facts, arrays, others)


def _find(path: Path, kind: str) -> _Found:
    """Find where the bundle lies just now, and read its manifest.

    Between looking here and there a writer may have moved it from there to here: look again.
    """
    for _ in range(20):
        for folder in (path, aside(path)):
            try:
                with open_plain(folder / MANIFEST) as stream:
                    about = os.fstat(stream.fileno())
                    return _Found(folder, stream.read(), (about.st_ino, about.st_mtime_ns))
            except (FileNotFoundError, NotADirectoryError):
                continue
            except OSError as error:
                raise _unopened(path, MANIFEST, error) from None
    raise DamagedBundle(
        f"no {kind} here: {MANIFEST} is missing",
        where=str(path),
        next_step=f"give the directory that holds the {kind}'s {MANIFEST}",
    )


def _check_replaced(found: _Found, path: Path, kind: str) -> None:
    """Raise `_Replaced` if the bundle is another one by now, or lies elsewhere: read it again."""
    if _find(path, kind) != found:
        raise _Replaced


def open_plain(file: Path) -> BufferedReader:
    """Open a plain file: no link, which may lead anywhere, and no pipe, which may never answer."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    handle = os.open(file, flags | getattr(os, "O_BINARY", 0))
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "not a plain file")
    return os.fdopen(handle, "rb")


def _unopened(path: Path, name: str, error: OSError) -> DamagedBundle | UnreadableSource:
    if isinstance(error, PermissionError):
        return UnreadableSource(
            f"you may not read it: {name} belongs to another user or group",
            where=str(path),
            next_step="ask its owner for the right to read the directory and its files",
        )
    if error.errno == errno.ELOOP:
        return damaged(path, f"{name} is a link, which may lead out of the directory")
    return damaged(path, f"{name} cannot be read ({error.strerror or error})")


def _stream_fingerprint(stream: BufferedReader) -> dict[str, Any]:
    digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return {"bytes": os.fstat(stream.fileno()).st_size, "sha256": digest}
