"""Writing a file whole or not at all, and saying so when it cannot be written."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

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
    """Turn a failure to write (`OSError`, safetensors' and polars' own) into a typed error.

    It is `OutputError` if the place is wrong, and `CannotWrite` if writing failed on the way.
    """
    try:
        yield
    except Exception as error:
        from polars.exceptions import ComputeError
        from safetensors import SafetensorError

        if not isinstance(error, OSError | SafetensorError | ComputeError):
            raise
        wrong = getattr(error, "errno", None) in WRONG_PLACE
        raise (OutputError if wrong else CannotWrite)(
            f"cannot write {what}: {getattr(error, 'strerror', None) or error}",
            where=str(path),
            next_step="choose a place you may write to" if wrong else "make room, then try again",
        ) from None


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
def atomic_file(path: Path) -> Iterator[Path]:
    """Give a temporary sibling to write; move it to ``path`` when the block ends well.

    ``~`` is expanded, permissions follow the umask, a failure to write is a typed error.
    """
    path = expanded(path)
    if path.exists() and not path.is_file():
        raise OutputError(
            "not a plain file", where=str(path), next_step="choose another name for the output"
        )
    with writing(path, "the file"), folder_made(path.parent):
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
