"""Files and folders that appear whole or not at all: temporary name, fsync, rename or exchange."""

from __future__ import annotations

import ctypes
import errno
import os
import secrets
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from eventide.errors import CannotWrite, InputError, OutputError

WRONG_PLACE = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EISDIR, errno.EEXIST)


def expanded(path: Path | str) -> Path:
    """Return ``path`` with ``~`` as the home folder.

    >>> expanded("a/~b").name
    '~b'
    """
    try:
        return Path(path).expanduser()
    except RuntimeError:
        raise InputError(
            "there is no such home folder", where=str(path), next_step="write the path out"
        ) from None


@contextmanager
def writing(path: Path, what: str) -> Iterator[None]:
    """Turn a failure to write, of the system or of a library's own kind, into a typed error.

    It is `OutputError` if the place is wrong, and `CannotWrite` if writing failed on the way.
    """
    try:
        yield
    except Exception as error:
        if not isinstance(error, _failures()):
            raise
        wrong = getattr(error, "errno", None) in WRONG_PLACE
        raise (OutputError if wrong else CannotWrite)(
            f"cannot write {what}: {getattr(error, 'strerror', None) or error}",
            where=str(path),
            next_step="choose a place you may write to" if wrong else "make room, then try again",
        ) from None


def _failures() -> tuple[type[Exception], ...]:
    """List what the libraries that write files raise; Excel's is an extra."""
    from polars.exceptions import PolarsError
    from safetensors import SafetensorError

    excel = sys.modules.get("xlsxwriter.exceptions")
    return (OSError, SafetensorError, PolarsError, *([excel.XlsxWriterException] if excel else []))


@contextmanager
def folder_made(folder: Path) -> Iterator[None]:
    """Make ``folder`` and its parents; those still empty when the block fails go again."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:
        remove_empty(missing)
        raise


def remove_empty(folders: list[Path]) -> None:
    """Remove folders, innermost first, as far as they are empty."""
    for each in folders:
        with suppress(OSError):
            each.rmdir()


@contextmanager
def atomic_file(path: Path, what: str = "the file") -> Iterator[Path]:
    """Give a temporary sibling to write; move it to ``path`` when the block ends well.

    ``~`` is expanded, permissions follow the umask, a failure to write is a typed error that says
    ``what`` was to be written.
    """
    path = expanded(path)
    if path.exists() and not path.is_file():
        raise OutputError(
            "not a plain file", where=str(path), next_step="choose another name for the output"
        )
    with writing(path, what), folder_made(path.parent):
        temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}{path.suffix}")
        # Made here, so that the umask decides who may read it, whoever writes to it.
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        try:
            yield temporary
            flush(temporary)
            temporary.replace(path)
            flush(path.parent)
        finally:
            temporary.unlink(missing_ok=True)


def flush(path: Path) -> None:
    """Have what was written to a file or folder reach the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


HERE = -100  # AT_FDCWD: paths are meant from the working directory
EXCHANGE = 2  # RENAME_EXCHANGE


def aside(path: Path) -> Path:
    """Return where the older folder lies while it cannot lie at ``path``."""
    return path.parent / f".{path.name}.previous"


def replace_folder(new: Path, path: Path) -> None:
    """Put ``new`` at ``path``; an older folder there ends up at ``new`` or aside."""
    if not path.exists():
        new.rename(path)
    elif not exchange(new, path):
        step_aside(new, path)


def exchange(one: Path, other: Path) -> bool:
    """Exchange two folders in one step; False where there is no such step."""
    if sys.platform != "linux" or not hasattr(_libc(), "renameat2"):
        return False
    if not _libc().renameat2(HERE, os.fsencode(one), HERE, os.fsencode(other), EXCHANGE):
        return True
    code = ctypes.get_errno()
    if code in (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP):
        return False
    raise OSError(code, os.strerror(code), str(other))


def step_aside(new: Path, path: Path) -> None:
    """Replace in two steps: the older folder steps aside, the new one takes its place."""
    previous = aside(path)
    shutil.rmtree(previous, ignore_errors=True)
    path.rename(previous)
    try:
        new.rename(path)
    except OSError:
        previous.rename(path)
        raise


@cache
def _libc() -> Any:
    return ctypes.CDLL(None, use_errno=True)
