"""Mini-batches: which training messages an epoch visits, in an order the seed decides.

The order depends on seed and epoch alone, so a resumed run needs no stored random state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

from eventide.opinions.calibration import folds_of
from eventide.training.settings import TrainingSettings

Ints = NDArray[np.int64]
Sampler = Callable[[Ints, Ints, int, int, int], Iterator[Ints]]
"""From rows, their labels, batch size, seed and number of the pass to the batches of a pass."""


def epoch_batches(
    sampler: Sampler, rows: Ints, labels: Ints, settings: TrainingSettings, seed: int, epoch: int
) -> Iterator[Ints]:
    """Yield the batches of an epoch: as many passes as ``epoch_steps`` asks for, at least one.

    >>> rows, settings = np.arange(7), TrainingSettings(batch_size=4, epoch_steps=5)
    >>> [len(each) for each in epoch_batches(shuffled_batches, rows, rows, settings, 0, epoch=1)]
    [4, 3, 4, 3, 4, 3]
    """
    passes = _passes(settings, len(rows))
    first = (epoch - 1) * passes + 1
    return chain.from_iterable(
        sampler(rows, labels, settings.batch_size, seed, number)
        for number in range(first, first + passes)
    )


class Folds:
    """Which training messages an epoch learns from, and on which it measures the classes.

    >>> folds = Folds(np.arange(4), np.array([0, 0, 1, 1]), count=2)
    >>> folds.learned(1).tolist(), folds.learned(2).tolist(), folds.measured(1).tolist()
    ([0, 2], [1, 3], [1, 3])
    >>> Folds(np.arange(4), np.array([0, 0, 1, 1]), count=0).learned(1).tolist()
    [0, 1, 2, 3]
    """

    def __init__(self, rows: Ints, labels: Ints, count: int) -> None:
        """Deal ``rows`` by their ``labels``; with fewer than two folds none is left out."""
        self.rows = rows
        self.count = count if count > 1 else 0
        self._fold = folds_of(labels, count) if self.count else None

    def learned(self, epoch: int) -> Ints:
        """Return the rows that an epoch learns from."""
        return self.rows if self._fold is None else self.rows[self._fold != epoch % self.count]

    def measured(self, epoch: int) -> Ints | None:
        """Return the rows on which the classes are measured after it: those left out, None: all."""
        return None if self._fold is None else self.rows[self._fold == epoch % self.count]


def round_steps(settings: TrainingSettings, batches: int) -> int:
    """Return how many steps a round has at most, where an epoch has so many batches."""
    return max(1, min(settings.layer1_refresh, batches // settings.epoch_rounds))


def in_rounds(batches: Sequence[Ints], settings: TrainingSettings) -> Iterator[tuple[Ints, Ints]]:
    """Yield the batches of an epoch, each with all messages of the later ones of its round.

    Rounds have at most ``layer1_refresh`` steps and are as equal as can be.

    >>> batches = [np.array([each]) for each in range(5)]
    >>> rounds = in_rounds(batches, TrainingSettings(layer1_refresh=3))
    >>> [(batch.tolist(), ahead.tolist()) for batch, ahead in rounds]
    [([0], [1]), ([1], []), ([2], [3, 4]), ([3], [4]), ([4], [])]
    >>> short = in_rounds(batches, TrainingSettings(layer1_refresh=3, epoch_rounds=4))
    >>> any(len(ahead) for _, ahead in short)
    False
    """
    count = len(batches)
    rounds = -(-count // round_steps(settings, count))
    for first, last in pairwise(count * each // rounds for each in range(rounds + 1)):
        ahead = np.concatenate(batches[first:last])
        for batch in batches[first:last]:
            ahead = ahead[len(batch) :]
            yield batch, ahead


def _passes(settings: TrainingSettings, messages: int) -> int:
    """Return how often an epoch goes through the training messages."""
    return -(-settings.epoch_steps // _batches(settings, messages))


def _batches(settings: TrainingSettings, messages: int) -> int:
    return max(1, -(-messages // settings.batch_size))


def with_epochs(settings: TrainingSettings, messages: int) -> TrainingSettings:
    """Return the settings with as many epochs as ``least_steps`` asks for.

    ``messages`` is the number of training messages.

    >>> settings = TrainingSettings(epochs=30, least_steps=500, epoch_steps=5)
    >>> with_epochs(settings, 1_000).epochs, with_epochs(settings, 100_000).epochs
    (100, 30)
    """
    in_epoch = _passes(settings, messages) * _batches(settings, messages)
    epochs = max(settings.epochs, -(-settings.least_steps // in_epoch))
    return settings.model_copy(update={"epochs": epochs, "least_steps": 0})


def shuffled_batches(rows: Ints, labels: Ints, size: int, seed: int, epoch: int) -> Iterator[Ints]:
    """Yield every one of ``rows`` once, in shuffled batches of at most ``size``.

    ``labels`` are those of ``rows``; this sampler does not read them.

    >>> rows, labels = np.arange(7), np.zeros(7, dtype=np.int64)
    >>> [len(batch) for batch in shuffled_batches(rows, labels, 3, seed=0, epoch=1)]
    [3, 3, 1]
    """
    order = np.random.default_rng([seed, epoch]).permutation(rows)
    for start in range(0, len(order), size):
        yield order[start : start + size]


def class_balanced_batches(
    rows: Ints, labels: Ints, size: int, seed: int, epoch: int
) -> Iterator[Ints]:
    """Yield as many batches as ``shuffled_batches``, each message drawn from a class at random.

    All classes are equally likely, and all messages of a class; small classes repeat.

    >>> rows, labels = np.arange(10), np.array([0] * 9 + [1])
    >>> [len(batch) for batch in class_balanced_batches(rows, labels, 4, seed=0, epoch=1)]
    [4, 4, 4]
    """
    return class_aware_batches(rows, labels, size, seed, epoch, together=1)


def class_aware_batches(
    rows: Ints, labels: Ints, size: int, seed: int, epoch: int, together: int = 4
) -> Iterator[Ints]:
    """Yield batches of classes in random order, ``together`` messages of a class at a time.

    Classes take turns, shuffled anew in every round. Within a class messages take turns too, so
    none repeats before all have come; small classes go round more often.

    >>> rows, labels = np.arange(10), np.array([0] * 9 + [1])
    >>> batch = next(class_aware_batches(rows, labels, 8, seed=0, epoch=1))
    >>> sorted(labels[batch].tolist())
    [0, 0, 0, 0, 1, 1, 1, 1]
    """
    random = np.random.default_rng([seed, epoch])
    batches = -(-len(rows) // size)
    members = [rows[labels == each] for each in np.unique(labels)]
    turns = -(-batches * size // together)
    order = np.concatenate(
        [random.permutation(len(members)) for _ in range(-(-turns // len(members)))]
    )[:turns]
    drawn = np.empty(turns * together, dtype=np.int64)
    by_turn = drawn.reshape(turns, together)
    for each, own in enumerate(members):
        wanted = int((order == each).sum()) * together
        rounds = [random.permutation(own) for _ in range(-(-wanted // len(own)))]
        by_turn[order == each] = np.concatenate([own[:0], *rounds])[:wanted].reshape(-1, together)
    for start in range(0, batches * size, size):
        yield drawn[start : start + size]
