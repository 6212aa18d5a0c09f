"""The salt of a model's hashes, and the file that keeps it apart from the model.

Whoever has both the hashes and the salt can try out names: a model that holds its own salt is
pseudonymous, not anonymous. With a salt file the model alone does not suffice for that.
"""

from __future__ import annotations

import os
import secrets
from hashlib import blake2b
from pathlib import Path

from eventide.errors import BadSetting, InputError, OutputError, UnreadableSource
from eventide.storage import expanded, flush, folder_made, writing

VARIABLE = "EVENTIDE_SALT_FILE"
SALT_BYTES = 32
LEAST, MOST = 16, 64  # bytes; more than that blake2b takes for no key


def made_or_read_salt(path: Path | str) -> bytes:
    """Return the salt of a file; where there is none, draw one and write it for its owner alone."""
    path = expanded(path)
    if path.exists():
        return read_salt(path)
    salt = secrets.token_bytes(SALT_BYTES)
    with writing(path, "the salt"), folder_made(path.parent):
        handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        try:
            with os.fdopen(handle, "w") as file:
                file.write(salt.hex() + "\n")
            flush(path)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
    return salt


def read_salt(path: Path | str) -> bytes:
    """Return the salt that ``made_or_read_salt`` wrote."""
    path = expanded(path)
    try:
        salt = bytes.fromhex(path.read_text(encoding="ascii"))
    except OSError as error:
        raise UnreadableSource(
            f"the salt file cannot be read: {error.strerror or error}",
            where=str(path),
            next_step="give the file that the model was trained with",
        ) from None
    except ValueError:
        salt = b""
    if not LEAST <= len(salt) <= MOST:
        raise UnreadableSource(
            f"not a salt file: it must hold {LEAST} to {MOST} bytes in hexadecimal digits",
            where=str(path),
            next_step="give the file that the model was trained with, or a new name to make one",
        )
    return salt


def salt_check(salt: bytes) -> str:
    """Return what tells a right salt from a wrong one without giving it away."""
    return blake2b(b"eventide salt", key=salt, digest_size=16).hexdigest()


def salt_of(facts: dict[str, str | None], salt_file: Path | str | None, where: Path) -> bytes:
    """Return the salt of a stored model: its own, or that of the file it was trained with."""
    own = facts["salt"]
    if own is not None:
        return bytes.fromhex(own)
    chosen = salt_file or os.environ.get(VARIABLE)
    if not chosen:
        raise BadSetting(
            "the model's salt is kept apart in a file, and none was given",
            where=str(where),
            next_step=f"give it: --salt-file FILE (salt_file=, or set {VARIABLE})",
        )
    salt = read_salt(chosen)
    if salt_check(salt) != facts.get("salt_check"):
        raise InputError(
            "the salt file is not the one this model was trained with",
            where=str(chosen),
            next_step="give the right file: --salt-file FILE (salt_file=...)",
        )
    return salt


def check_apart(salt_file: Path | str, model: Path) -> None:
    """Refuse a salt file that would lie in the model's own directory."""
    place = Path(os.path.realpath(expanded(salt_file)))
    if Path(os.path.realpath(model)) in place.parents:
        raise OutputError(
            "the salt file would lie inside the model, where it protects nothing",
            where=str(salt_file),
            next_step="keep it elsewhere",
        )
