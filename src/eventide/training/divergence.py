"""Training that leaves the finite numbers ends there: everything after would be computed on NaN."""

from __future__ import annotations

import math
from collections.abc import Mapping

from eventide.errors import Diverged
from eventide.training.settings import TrainingSettings

USUAL_RATE = 1e-3


def check_finite(figures: Mapping[str, float], epoch: int, settings: TrainingSettings) -> None:
    """Raise ``Diverged`` with the first of ``figures`` that is not finite.

    >>> check_finite({"error": 0.5, "agreement": float("nan")}, 3, TrainingSettings())
    Traceback (most recent call last):
    eventide.errors.Diverged: training left the finite numbers: `agreement` became nan
      where: epoch 3
      next:  try a lower learning rate than 0.001: --set training.learning_rate=0.0001 (in Python \
training__learning_rate=0.0001), and check that no vector is far longer than the others
    """
    for name, value in figures.items():
        if not math.isfinite(value):
            rate = settings.learning_rate
            lower = f"{min(rate / 10, USUAL_RATE):g}"
            raise Diverged(
                f"training left the finite numbers: `{name}` became {value}",
                where=f"epoch {epoch}",
                next_step=f"try a lower learning rate than {rate:g}: "
                f"--set training.learning_rate={lower} (in Python "
                f"training__learning_rate={lower}), and check that no vector is far longer than "
                "the others",
            )
