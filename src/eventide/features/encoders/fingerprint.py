"""One digest for weights, so that a stored model notices when an encoder's vectors changed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt


def fingerprint(arrays: Iterable[npt.NDArray[Any]]) -> str:
    """Return the sha256 of the arrays' shapes, types and bytes.

    >>> fingerprint([np.zeros(2)]) == fingerprint([np.zeros((1, 2))])
    False
    """
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(f"{array.shape}{array.dtype.str}".encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def file_fingerprint(path: Path) -> str:
    """Return the sha256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
