"""Where results go: checked before anything is read, never onto an input, one writer at a time."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from eventide.errors import CannotWrite, OutputError
from eventide.storage import is_bundle


def check_file(
    path: Path | str,
    *,
    overwrite: bool = False,
    inputs: Iterable[Path | str] = (),
    suffixes: Iterable[str] = (),
) -> Path:
    """Return ``path`` (``~`` expanded) if a file can be written there, else raise `OutputError`.

    ``suffixes`` are the endings that the caller can write; none given means any.
    """
    path = Path(path).expanduser()
    known = tuple(suffixes)
    if path.is_dir():
        raise OutputError("a folder, where a file is to be written", where=str(path))
    if known and path.suffix.lower() not in known:
        raise OutputError(
            f"cannot write {path.suffix or 'a file without a suffix'}",
            where=str(path),
            next_step=f"name the file {', '.join(known)}",
        )
    _not_an_input(path, inputs)
    if path.exists() and not overwrite:
        raise OutputError(
            "there is a file already",
            where=str(path),
            next_step="choose another name, or replace it with --overwrite",
        )
    _writable(path)
    return path


def check_folder(
    path: Path | str, *, overwrite: bool = False, inputs: Iterable[Path | str] = ()
) -> Path:
    """Return ``path`` (``~`` expanded) if a bundle can be written there, else raise `OutputError`.

    A folder that holds anything but a bundle is refused even with ``overwrite``.
    """
    path = Path(path).expanduser()
    if not path.name or path.name == "..":
        raise OutputError(
            "a folder of its own is needed", where=str(path), next_step="name one: --out model"
        )
    if path.exists() and not path.is_dir():
        raise OutputError(
            "a file, where a folder is to be written", where=str(path), next_step="name a folder"
        )
    _not_an_input(path, inputs)
    if is_bundle(path):
        if not overwrite:
            raise OutputError(
                "there is a model already",
                where=str(path),
                next_step="choose another folder, or replace it with --overwrite",
            )
    elif path.exists() and any(path.iterdir()):
        raise OutputError(
            "the folder holds something else",
            where=str(path),
            next_step="choose an empty or new folder",
        )
    _writable(path)
    return path


@contextmanager
def reserved(path: Path) -> Iterator[None]:
    """Hold ``path`` for this process; another one that wants it meanwhile gets `OutputError`."""
    from filelock import FileLock, Timeout

    with writing(path, "the lock"):
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(path.parent / f".{path.name}.lock", timeout=0)
        try:
            lock.acquire()
        except Timeout:
            raise OutputError(
                "another process is writing here",
                where=str(path),
                next_step="wait until it is done, or choose another name",
            ) from None
    try:
        yield
    finally:
        lock.release()


@contextmanager
def writing(path: Path, what: str) -> Iterator[None]:
    """Turn a failure to write (`OSError`, safetensors' own) into `CannotWrite`."""
    from safetensors import SafetensorError

    try:
        yield
    except (OSError, SafetensorError) as error:
        raise CannotWrite(
            f"cannot write {what}: {getattr(error, 'strerror', None) or error}",
            where=str(path),
            next_step="make room, or choose a place you may write to",
        ) from None


def _not_an_input(path: Path, inputs: Iterable[Path | str]) -> None:
    for each in inputs:
        given = Path(each).expanduser()
        try:
            same = path.resolve() == given.resolve() or path.samefile(given)
        except (OSError, ValueError):
            continue
        if same:
            raise OutputError(
                "the output is an input: it would be destroyed",
                where=str(path),
                next_step="choose another name for the output",
            )


def _writable(path: Path) -> None:
    """Check the folder that is there already and will hold what is written."""
    folder = path.absolute().parent
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    if not folder.is_dir():
        raise OutputError("not a folder", where=str(folder), next_step="choose another place")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise OutputError(
            "the folder cannot be written to",
            where=str(folder),
            next_step="choose a place you may write to",
        )
