"""Element keys: a salted 128-bit hash replaces a hashtag, entity or name; no string is stored."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
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

    Keys that join later are sorted by themselves; small sorted runs are merged as they grow, so
    that joining takes the same time however many keys there are.

    >>> index = KeyIndex(np.array([b"fire", b"flood", b"quake"], dtype="S16"))
    >>> wanted = np.array([b"quake", b"storm"], dtype="S16")
    >>> index.find(wanted).tolist(), index.joined(wanted[1:]).find(wanted).tolist()
    ([2, -1], [2, 3])
    """

    def __init__(self, keys: Keys) -> None:
        check_distinct(keys)
        self._runs = [_sorted_run(keys, np.arange(len(keys), dtype=np.int64))]

    def __len__(self) -> int:
        return sum(len(keys) for keys, _ in self._runs)

    def joined(self, keys: Keys) -> KeyIndex:
        """Return an index of these keys and, after them, of ``keys``, none of which is here."""
        check_distinct(keys)
        if (self.find(keys) >= 0).any():
            raise ValueError("a key that joins is there already")
        other = copy(self)
        numbers = len(self) + np.arange(len(keys), dtype=np.int64)
        runs = [*self._runs, _sorted_run(keys, numbers)]
        while len(runs) > 1 and 2 * len(runs[-1][0]) > len(runs[-2][0]):
            last, before = runs.pop(), runs.pop()
            both = (np.concatenate(parts) for parts in zip(before, last, strict=True))
            runs.append(_sorted_run(*both))
        other._runs = runs
        return other

    def find(self, keys: Keys) -> npt.NDArray[np.int64]:
        """The index of each key, -1 where it is unknown."""
        found = np.full(len(keys), -1, dtype=np.int64)
        for known, numbers in self._runs:
            if len(known):
                index = np.minimum(np.searchsorted(known, keys), len(known) - 1)
                found = np.where(known[index] == keys, numbers[index], found)
        return found


def _sorted_run(keys: Keys, numbers: npt.NDArray[np.int64]) -> tuple[Keys, npt.NDArray[np.int64]]:
    order = np.argsort(keys, kind="stable")
    return keys[order], numbers[order]
