"""The exception tree: every message says what went wrong, where, and what to do next."""

from __future__ import annotations

import sys
import warnings


class EventideError(Exception):
    """Base of every error raised on purpose; the command line shows it without a traceback.

    >>> print(EventideError("the model is damaged", where="model/weights", next_step="train again"))
    the model is damaged
      where: model/weights
      next:  train again
    """

    exit_code = 1

    def __init__(
        self, what: str, *, where: str | None = None, next_step: str | None = None
    ) -> None:
        self.what = what
        self.where = where
        self.next_step = next_step
        lines = [what]
        if where:
            lines.append(f"  where: {where}")
        if next_step:
            lines.append(f"  next:  {next_step}")
        super().__init__("\n".join(lines))


class InputError(EventideError, ValueError):
    """What the user gave cannot be used as it is; the command line exits with 2."""

    exit_code = 2


class UnreadableSource(InputError):
    """A file or object that is missing, empty, or not what its name says."""


class MissingColumn(InputError):
    """A column the task needs is not there."""


class RejectedRows(InputError):
    """Rows failed validation while ``strict`` was asked for."""


class UnknownName(InputError):
    """A name that no registry entry has."""


class BadSetting(InputError):
    """A setting outside its allowed values."""


class OutputError(InputError):
    """An output that cannot be used: taken, in use, an input, of the wrong kind, not writable."""


class CannotWrite(EventideError):
    """Writing failed on the way: a full disk, say. Nothing half-written stays."""


class Diverged(EventideError):
    """Training left the finite numbers."""


class ForkedProcess(EventideError):
    """A child process, forked too late: the threads it would need stayed behind in its parent."""


class MissingDependency(EventideError):
    """An optional package or a file that an option needs is not installed."""


class BrokenPlugin(EventideError):
    """Something that another package adds by an entry point, and that cannot be imported."""


class DamagedBundle(InputError):
    """A saved model or checkpoint that is missing, damaged, foreign, or of another version."""


class NotAllowed(InputError):
    """A model wants something from outside, and the user has not allowed it."""


class EventideWarning(UserWarning):
    """Something went on, but not quite as the caller may think: rows set aside, say."""


def warn(told: str) -> None:
    """Warn with an `EventideWarning` that points at the caller's line, not at ours.

    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn("three rows were set aside")
    >>> str(caught[0].message)
    'three rows were set aside'
    """
    level, frame = 2, sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").startswith("eventide."):
        level, frame = level + 1, frame.f_back  # type: ignore[assignment]
    warnings.warn(told, EventideWarning, stacklevel=level)
