"""Element keys: a salted 128-bit hash replaces a hashtag, entity or name; no string is stored."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from eventide.errors import EventideError

KEY_BYTES = 16
Keys = npt.NDArray[np.bytes_]  # dtype S16: sortable, comparable, 16 bytes each


def element_keys(kind: str, elements: Iterable[str], salt: bytes = b"") -> Keys:
    """Hash each element together with its ``kind`` (its column) to one 128-bit key.

    The same element, kind and salt give the same key on every machine. Without the salt a guess of
    the element cannot be tested. ``salt`` may have at most 64 bytes.

    >>> keys = element_keys("hashtags", ["flood", "fire"], salt=b"secret")
    >>> keys.dtype, bool(keys[0] == element_keys("urls", ["flood"], salt=b"secret")[0])
    (dtype('S16'), False)
    """
    prefix = blake2b(kind.encode() + b"\0", digest_size=KEY_BYTES, key=salt)

    def digest(element: str) -> bytes:
        state = prefix.copy()
        state.update(element.encode("utf-8", "surrogatepass"))
        return state.digest()

    return np.array([digest(element) for element in elements], dtype=f"S{KEY_BYTES}")


def check_distinct(keys: Keys) -> None:
    """Raise if two elements share a key: very unlikely, but it would connect unrelated messages.

    >>> check_distinct(np.array([b"a", b"b"], dtype="S16"))
    """
    if len(np.unique(keys)) != len(keys):
        raise EventideError(
            "two different elements have the same 128-bit key",
            where="element keys of a view",
            next_step="Build again with another salt",
        )


class KeyIndex:
    """Finds the index of an element by its key.

    >>> index = KeyIndex(np.array([b"fire", b"flood", b"quake"], dtype="S16"))
    >>> index.find(np.array([b"quake", b"storm"], dtype="S16")).tolist()
    [2, -1]
    """

    def __init__(self, keys: Keys) -> None:
        check_distinct(keys)
        self._order = np.argsort(keys, kind="stable")
        self._sorted = keys[self._order]

    def find(self, keys: Keys) -> npt.NDArray[np.int64]:
        """The index of each key, -1 where it is unknown."""
        if len(self._sorted) == 0:
            return np.full(len(keys), -1, dtype=np.int64)
        index = np.minimum(np.searchsorted(self._sorted, keys), len(self._sorted) - 1)
        found: npt.NDArray[np.int64] = np.where(
            self._sorted[index] == keys, self._order[index], -1
        ).astype(np.int64)
        return found
