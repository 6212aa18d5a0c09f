"""Where results go: checked before anything is read, never onto an input, one writer at a time."""

from __future__ import annotations

import errno
import os
import shutil
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import polars as pl

from eventide.errors import EventideWarning, OutputError
from eventide.storage import (
    atomic_file,
    expanded,
    is_bundle,
    other_files,
    remove_empty,
    tidy,
    writing,
)

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

__all__ = ["check_file", "check_folder", "check_room", "check_suffix", "reserved", "writing"]

WITHOUT_LOCKS = (errno.ENOSYS, errno.ENOLCK, errno.ENOTSUP)
ROOM_FOR_A_FILE = 4_096
ROOM_FOR_A_BUNDLE = 1 << 20


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
    path = expanded(path)
    known = tuple(suffixes)
    if not path.name or _is_folder(path):
        raise OutputError(
            "a folder, where a file is to be written",
            where=str(path),
            next_step="name a file" + (f" ending in {', '.join(known)}" if known else ""),
        )
    if known:
        check_suffix(path, known)
    _not_an_input(path, inputs)
    if _is_there(path):
        if not path.is_file():
            raise OutputError(
                "not a plain file", where=str(path), next_step="choose another name for the output"
            )
        if not overwrite:
            raise OutputError(
                "there is a file already",
                where=str(path),
                next_step="choose another name, or replace it: --overwrite (overwrite=True)",
            )
    _writable(path)
    check_room(path, ROOM_FOR_A_FILE)
    return path


def check_suffix(path: Path, known: Iterable[str]) -> str:
    """Return how ``path`` ends, in small letters, if it is one of the ``known`` ways.

    >>> check_suffix(Path("opinions.CSV"), [".csv", ".jsonl"])
    '.csv'
    """
    suffix = path.suffix.lower()
    if suffix not in (suffixes := tuple(known)):
        raise OutputError(
            f"cannot write {path.suffix or 'a file without a suffix'}",
            where=str(path),
            next_step=f"end its name with one of {', '.join(suffixes)}",
        )
    return suffix


def check_folder(
    path: Path | str, *, overwrite: bool = False, inputs: Iterable[Path | str] = ()
) -> Path:
    """Return ``path`` (``~`` expanded) if a bundle can be written there, else raise `OutputError`.

    A folder that holds anything but a bundle is refused even with ``overwrite``.
    """
    path = expanded(path)
    if not path.name or path.name == "..":
        raise OutputError(
            "a folder of its own is needed", where=str(path), next_step="name one: --out model"
        )
    if _is_there(path) and not path.is_dir():
        raise OutputError(
            "a file, where a folder is to be written", where=str(path), next_step="name a folder"
        )
    _not_an_input(path, inputs)
    if _is_there(path):
        _replaceable(path, overwrite)
    _writable(path)
    check_room(path, ROOM_FOR_A_BUNDLE)
    return path


def check_room(path: Path, least: int) -> None:
    """Raise `OutputError` unless ``least`` bytes are free where ``path`` will be."""
    folder = _nearest(path)
    with suppress(OSError):  # not every file system tells
        free = shutil.disk_usage(folder).free
        if free < least:
            raise OutputError(
                f"the disk is full: {free:,} bytes are free, at least {least:,} are needed",
                where=str(folder),
                next_step="make room, or choose another place",
            )


@contextmanager
def reserved(path: Path | str) -> Iterator[None]:
    """Hold ``path`` for this process; another one that wants it meanwhile gets `OutputError`.

    The system lets go of the lock when a process dies, however it dies. Whoever holds it clears
    away what a writer left that died.
    """
    path = Path(os.path.realpath(expanded(path)))
    missing = [each for each in path.parents if not _is_there(each)]
    lock = path.parent / f".{path.name}.lock"
    with writing(path, "here"):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = _locked(lock)
    if handle is None:
        raise OutputError(
            "another process is writing here",
            where=str(path),
            next_step="wait until it is done, or choose another name",
        )
    try:
        with writing(path, "here"):
            tidy(path)
        yield
    finally:
        _release(handle, lock)
        remove_empty(missing)


def _locked(lock: Path) -> int | None:
    """Open and lock a file; None if somebody else has it."""
    while True:
        handle = os.open(lock, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666)
        try:
            if sys.platform == "win32":
                msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
            else:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The last holder removes the file: what was locked must still be what has the name.
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(handle), os.stat(lock)):
                    return handle
        except (BlockingIOError, PermissionError):
            os.close(handle)
            return None
        except OSError as error:
            if error.errno not in WITHOUT_LOCKS:
                os.close(handle)
                raise
            warnings.warn(
                f"the file system of {lock.parent} has no locks: let no other process write there",
                EventideWarning,
                stacklevel=4,
            )
            return handle
        os.close(handle)


def _release(handle: int, lock: Path) -> None:
    with suppress(OSError):  # Windows removes no open file: there it stays
        lock.unlink()
    os.close(handle)


def _replaceable(path: Path, overwrite: bool) -> None:
    try:
        others = other_files(path)
    except PermissionError:
        raise _refused(path) from None
    if others:
        raise OutputError(
            f"the folder holds something else: {others[0]}",
            where=str(path),
            next_step="choose an empty or new folder",
        )
    if is_bundle(path) and not overwrite:
        raise OutputError(
            "there is a model already",
            where=str(path),
            next_step="choose another folder, or replace it: --overwrite (overwrite=True)",
        )


def _not_an_input(path: Path, inputs: Iterable[Path | str]) -> None:
    target = Path(os.path.realpath(path))
    for each in inputs:
        given = Path(os.path.realpath(expanded(each)))
        if not _is_there(given):  # a dataset's name, say
            continue
        if target == given or target in given.parents or _same_file(target, given):
            raise OutputError(
                f"the output is an input or holds one: {given.name} would be destroyed",
                where=str(path),
                next_step="choose another name for the output",
            )
    for folder in path.absolute().parents:
        if is_bundle(folder):
            raise OutputError(
                "the output would lie inside a model",
                where=str(folder),
                next_step="choose a place outside it",
            )


def _same_file(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return False


def _nearest(path: Path) -> Path:
    """Return the folder that is there already and will hold what is written."""
    folder = path.absolute().parent
    while not _is_there(folder) and folder != folder.parent:
        folder = folder.parent
    return folder


def _writable(path: Path) -> None:
    folder = _nearest(path)
    if not folder.is_dir():
        raise OutputError("not a folder", where=str(folder), next_step="choose another place")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise _refused(folder)


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except PermissionError:
        raise _refused(path) from None


def _is_folder(path: Path) -> bool:
    return _is_there(path) and path.is_dir()


def _refused(path: Path) -> OutputError:
    return OutputError(
        "you may not write here",
        where=str(path),
        next_step="choose a place you may write to",
    )


def write_parquet(messages: pl.DataFrame, path: Path) -> None:
    """Write ``messages`` to ``path``; a crash leaves the old file or the new one, never half."""
    with atomic_file(path) as temporary:
        messages.write_parquet(temporary)
