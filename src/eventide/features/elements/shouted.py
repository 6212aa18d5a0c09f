"""Names in TEXT WRITTEN IN CAPITALS, where case says nothing."""

from __future__ import annotations

from eventide.features.elements import vocabulary


def shouted_names(words: list[str]) -> list[str]:
    """Known names, codes, and words beside "STREET", "COUNTY" or "IN"; nothing else is safe.

    >>> shouted_names("THE RED CROSS IS ON MAPLE STREET IN MOORE".split())
    ['red cross', 'maple street', 'moore']
    """
    keys = [word.strip("'’").casefold() for word in words]
    names = []
    position = 0
    while position < len(keys):
        length = _length(keys, position)
        if length:
            names.append(" ".join(keys[position : position + length]))
        position += length or 1
    return names


def _length(keys: list[str], position: int) -> int:
    """How many words the name that begins at ``position`` has; 0 where none begins."""
    for length in (3, 2, 1):
        phrase = " ".join(keys[position : position + length])
        if position + length <= len(keys) and phrase in vocabulary.known_names():
            return length
    key = keys[position]
    if any(map(str.isdigit, key)) and any(map(str.isalpha, key)):
        return 1
    if key in vocabulary.stop_words() or key in vocabulary.common_words() or len(key) < 4:
        return 0
    if position + 1 < len(keys) and keys[position + 1] in vocabulary.roles()["closers"]:
        return 2
    return int(position > 0 and keys[position - 1] in ("in", "near"))
