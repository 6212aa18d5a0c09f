"""What a method learns from, cut so that no label but a training message's can reach a weight."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eventide.training.corpus import Corpus

Ints = NDArray[np.int64]
UNLABELLED = -1


@dataclass(frozen=True)
class Validation:
    """Messages that choose the best epoch, and nothing else.

    Transductive: they are ``rows`` of the graph. Inductive: they are a ``corpus`` of new messages,
    scored by look-up.
    """

    labels: Ints
    rows: Ints | None = None
    corpus: Corpus | None = None

    def __len__(self) -> int:
        return len(self.labels)


@dataclass(frozen=True)
class Problem:
    """A corpus, the labels of its training messages (-1 elsewhere), and the validation messages."""

    corpus: Corpus
    labels: Ints
    classes: int
    validation: Validation

    @property
    def training_rows(self) -> Ints:
        """The rows of the graph whose label may be learned from."""
        return np.flatnonzero(self.labels != UNLABELLED)

    @property
    def class_counts(self) -> Ints:
        """How many training messages each class has."""
        return np.bincount(self.labels[self.training_rows], minlength=self.classes)
