"""All exceptions: each says what went wrong, where, and what to do next."""

from __future__ import annotations

import sys
import warnings


class EventideError(Exception):
    """Base of all errors that Eventide raises; the command line shows them without a traceback.

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
    """Bad input or usage; the command line exits with 2."""

    exit_code = 2


class UnreadableSource(InputError):
    """A file or object that is missing, empty, or not of the format its name says."""


class MissingColumn(InputError):
    """A required column is missing."""


class RejectedRows(InputError):
    """Rows failed validation: any with ``strict``, or too many without."""


class UnknownName(InputError):
    """A name that is not in the registry."""


class BadSetting(InputError):
    """A setting outside its allowed values."""


class OutputError(InputError):
    """An output path that cannot be used: exists, in use, an input, wrong kind, not writable."""


class CannotWrite(EventideError):
    """Writing failed, for example on a full disk. No partial file is left."""


class Diverged(EventideError):
    """A loss or weight became infinite or NaN in training."""


class ForkedProcess(EventideError):
    """Used in a child forked after threads were started: the child does not have these threads."""


class MissingDependency(EventideError):
    """An optional package or file is not installed."""


class BrokenPlugin(EventideError):
    """An entry point of another package that cannot be imported."""


class DamagedBundle(InputError):
    """A saved model or checkpoint that is missing, damaged, of another kind or version."""


class NotAllowed(InputError):
    """A model needs a download or plugin that the user has not allowed."""


class LockedMessages(InputError):
    """Something would be chosen on messages of the benchmark lock, which are only reported on."""


class EventideWarning(UserWarning):
    """Work continued, but not as the caller may expect: for example, rows were rejected."""


def warn(message: str) -> None:
    """Issue an `EventideWarning` that points at the caller's line outside Eventide.

    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn("three rows were rejected")
    >>> str(caught[0].message)
    'three rows were rejected'
    """
    level, frame = 2, sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").startswith("eventide."):
        level, frame = level + 1, frame.f_back  # type: ignore[assignment]
    warnings.warn(message, EventideWarning, stacklevel=level)
