"""A line per epoch through ``logging``, for whoever fits a model in Python."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from numbers import Integral

from eventide.errors import BadSetting
from eventide.training.loop import Watch

logger = logging.getLogger("eventide")


@contextmanager
def epoch_lines(verbose: bool | int, epochs: int) -> Iterator[Watch]:
    """Give a function to call with every epoch's row; every ``verbose``-th is a line to see.

    The lines go to the logger ``eventide``. Where nobody listens to it, ``verbose`` writes them
    to standard error; otherwise they are logged at the level debug.
    """
    every = _every(verbose)
    with _heard(bool(every)):

        def watch(row: Mapping[str, float]) -> None:
            last = int(row.get("epochs", epochs))
            shown = every and (row["epoch"] % every == 0 or row["epoch"] == last)
            logger.log(logging.INFO if shown else logging.DEBUG, "%s", epoch_line(row, last))

        yield watch


def epoch_line(row: Mapping[str, float], epochs: int) -> str:
    """Put an epoch's row into words.

    >>> epoch_line({"epoch": 3, "total": 0.7, "validation_accuracy": 0.9, "seconds": 0.25}, 30)
    'epoch 3 of 30: loss 0.700, validation accuracy 0.900, 0.25 s'
    """
    names = {
        "total": "loss",
        "validation_accuracy": "validation accuracy",
        "validation_f1": "validation macro-F1",
    }
    told = [
        f"{words} {row[name]:.3f}" for name, words in names.items() if row.get(name) is not None
    ]
    told.append(f"{row['seconds']:.2f} s")
    return f"epoch {row['epoch']:g} of {epochs}: {', '.join(told)}"


def _every(verbose: object) -> int:
    if isinstance(verbose, Integral) and int(verbose) >= 0:
        return int(verbose)
    raise BadSetting(
        f"verbose cannot be {verbose!r}",
        next_step="give False, True, or a whole number n for a line every n epochs",
    )


@contextmanager
def _heard(wanted: bool) -> Iterator[None]:
    """Write to standard error for a while, unless the program has set up logging itself."""
    if not wanted or (logger.isEnabledFor(logging.INFO) and _has_listener()):
        yield
        return
    handler, level = logging.StreamHandler(sys.stderr), logger.level
    handler.setFormatter(logging.Formatter("%(message)s"))
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


def _has_listener() -> bool:
    at: logging.Logger | None = logger
    while at is not None:
        if any(not isinstance(handler, logging.NullHandler) for handler in at.handlers):
            return True
        at = at.parent if at.propagate else None
    return False
