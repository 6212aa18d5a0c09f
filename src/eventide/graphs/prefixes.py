"""Messages in an order in which those that share elements stand together.

Elements are numbered by popularity, so a message's first element is its most popular one. Sorted
like words in a dictionary, all messages that begin with the same elements are neighbours in memory:
what they read in common is read once, and stays in the processor's cache.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eventide.graphs.incidence import Incidence, Ints


def by_popularity(incidence: Incidence) -> Incidence:
    """The same incidence with elements numbered from the most popular one down.

    >>> by_popularity(Incidence.of([["a", "b"], ["b"]])).elements.tolist()
    [0, 1, 0]
    """
    width = max(len(incidence.keys), 1)
    order = np.argsort(-np.bincount(incidence.elements, minlength=width), kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(width)
    sorted_codes = np.sort(incidence.rows * width + rank[incidence.elements])
    return Incidence(
        incidence.pointers, sorted_codes % width, incidence.keys[order[: len(incidence.keys)]]
    )


def dictionary_order(sets: Incidence) -> Ints:
    """The order of ``sets`` by their first element, then by their second, and so on.

    >>> dictionary_order(Incidence.of([["a", "b"], ["b"], ["a"], []])).tolist()
    [3, 2, 0, 1]
    """
    if len(sets.elements) == 0:
        return np.arange(len(sets), dtype=np.int64)
    return np.lexsort(_table(sets).T[::-1])


@dataclass(frozen=True)
class Prefixes:
    """Beginnings of element sets: set s begins with ``numbers[s, k]`` up to its k-th element.

    ``messages[p]`` counts the messages that begin with p, ``owner`` gives the set of every one.
    """

    numbers: Ints
    messages: Ints

    @classmethod
    def of(cls, sets: Incidence, weights: Ints) -> Prefixes:
        """Number the beginnings of ``sets``, which are in dictionary order.

        >>> sets = Incidence.of([["a"], ["a", "b"], ["a", "c"]])
        >>> found = Prefixes.of(sets, np.array([1, 1, 5]))
        >>> found.numbers.tolist(), found.messages.tolist()
        ([[0, -1], [0, 1], [0, 2]], [7, 1, 5])
        """
        table = _table(sets)
        there = table >= 0
        new = np.ones(table.shape, dtype=bool)
        new[1:] = np.logical_or.accumulate(table[1:] != table[:-1], axis=1)
        new &= there
        # column by column: a beginning's sets stand together, so numbers count up inside a column
        numbers = (np.cumsum(new.T.ravel()) - 1).reshape(table.T.shape).T
        numbers = np.where(there, numbers, -1)
        rows, _ = np.nonzero(there)
        messages = np.bincount(numbers[there], weights=weights[rows]).astype(np.int64)
        return cls(numbers, messages)


def _table(sets: Incidence) -> Ints:
    """Elements of each set in columns, -1 where it has no more."""
    table = np.full((len(sets), int(sets.degrees.max(initial=0))), -1, dtype=np.int64)
    places = np.arange(len(sets.elements)) - np.repeat(sets.pointers[:-1], sets.degrees)
    table[sets.rows, places] = sets.elements
    return table
