"""How the command line ends: an exit code, and one message made for people, never a traceback."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup

from eventide.cli.console import say
from eventide.errors import EventideError

STOPPED, NOBODY_READS = 130, 141
"""Exit codes as of a shell: after Ctrl-C, and when the reader of a pipe has gone."""

DEBUG = "EVENTIDE_DEBUG"


class Verbs(TyperGroup):
    """The verbs together; Ctrl-C and a closed pipe end any of them quietly."""

    def invoke(self, ctx: Any) -> Any:
        """Run the verb that was asked for."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            say("stopped", err=True)
            raise typer.Exit(STOPPED) from None
        except BrokenPipeError:
            _discard_output()
            raise typer.Exit(NOBODY_READS) from None


@contextmanager
def stoppable(what: str) -> Iterator[None]:
    """Say ``what`` became of the work when a person stops it with Ctrl-C."""
    try:
        yield
    except KeyboardInterrupt:
        say(f"stopped: {what}", err=True)
        raise typer.Exit(STOPPED) from None


def answer_ctrl_c() -> None:
    """Let Ctrl-C end a wait for input; polars, once imported, has such a wait begin again."""
    if hasattr(signal, "siginterrupt"):  # not on Windows
        signal.siginterrupt(signal.SIGINT, True)


def exit_code(run: Callable[[], None]) -> int:
    """Run the command line and return the code to end with; errors are told on the way."""
    try:
        return _finished(run)
    except KeyboardInterrupt:  # while modules were being imported, say
        say("stopped", err=True)
        return STOPPED
    except BrokenPipeError:
        _discard_output()
        return NOBODY_READS
    except Exception as error:
        if os.environ.get(DEBUG):
            raise
        if isinstance(error, OSError) and not error.filename:
            _discard_output()  # or Python would fail on it again
        say(f"error: {_told(error)}", err=True, style="red")
        return error.exit_code if isinstance(error, EventideError) else 1


def _finished(run: Callable[[], None]) -> int:
    code = 0
    try:
        run()
    except SystemExit as asked:
        code = asked.code if isinstance(asked.code, int) else int(asked.code is not None)
    if sys.stdout is not None:
        sys.stdout.flush()
    return code


def _told(error: Exception) -> str:
    if isinstance(error, EventideError):
        return str(error)
    if isinstance(error, MemoryError):
        return "out of memory\n  next:  give fewer messages at once"
    if isinstance(error, OSError):  # standard output on a full disk, say
        where = f"\n  where: {error.filename}" if error.filename else ""
        return f"{error.strerror or error}{where}\n  next:  {DEBUG}=1 shows what was being done"
    told = " ".join(str(error).split()) or "no message"
    return (
        f"this is a bug in eventide: {type(error).__name__}: {told}\n"
        f"  next:  report it with the traceback that {DEBUG}=1 shows"
    )


def _discard_output() -> None:
    """Point standard output at nothing, so that Python does not fail on it again when it ends."""
    if sys.stdout is not None:
        try:
            with Path(os.devnull).open("wb") as nowhere:
                os.dup2(nowhere.fileno(), sys.stdout.fileno())
        except (OSError, ValueError):  # not a real file
            sys.stdout = None
