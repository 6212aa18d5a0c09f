"""The last phase of decoupled methods: classifiers on a finished encoder, classes in turn."""

from __future__ import annotations

from collections.abc import Iterator

from torch import Tensor

from eventide.training.batches import class_aware_batches
from eventide.training.logit_objective import LogitObjective
from eventide.training.objective import Ints


class BalancedClassifier(LogitObjective):
    """Cross-entropy on the fused logits, with batches in which all classes come equally often.

    Meant for a phase that trains the classifier alone: a frozen encoder has nothing to agree on,
    so there is no L_Common. ``together`` messages of a class are drawn at a time.
    """

    def __init__(self, counts: Tensor, together: int = 4) -> None:
        super().__init__(counts, agreement_weight=0.0)
        self.together = together

    def batches(self, rows: Ints, labels: Ints, size: int, seed: int, epoch: int) -> Iterator[Ints]:
        """Yield batches in which classes take turns."""
        return class_aware_batches(rows, labels, size, self.together, seed, epoch)
