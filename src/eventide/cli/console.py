"""What a person sees: lines, tables and commands, safe to show on any terminal."""

from __future__ import annotations

import json
import logging
import os
import re
import shlex
import sys
import warnings
from typing import TYPE_CHECKING, Any, TextIO

import typer

from eventide.errors import EventideWarning
from eventide.safe_text import safe_lines

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

PAGE_WIDTH = 100
"""Columns of a page where no terminal has a width of its own."""

IN_A_PIPE = 1_000
"""Columns where lines must not be folded: a program reads them."""

_UNSEEN = re.compile(
    r"[\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]"
)
_NOT_ASCII = re.compile(r"[^\x00-\x7e]")


def say(text: object = "", *, err: bool = False, style: str | None = None) -> None:
    """Print lines of our own; whatever they quote is made safe to show."""
    stream, told = sys.stderr if err else sys.stdout, safe_lines(text)
    if style is not None and "NO_COLOR" not in os.environ and stream is not None:
        told = typer.style(told, fg=style) if stream.isatty() else told
    _write(told, stream)


def note(text: object, *, err: bool = False) -> None:
    """Print something that the reader should know about what was done."""
    say(f"note: {text}", err=err)


def command(*words: object) -> str:
    """Write a command that can be pasted into a shell as it is.

    >>> command("assign", "my model", "new.csv")
    "eventide assign 'my model' new.csv"
    """
    return shlex.join(["eventide", *map(str, words)])


def print_json(value: Any, *, indent: int | None = 1) -> None:
    """Print a value, or JSON that was written already, so that any terminal can take it."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=indent)
    pattern = _UNSEEN if _writes_unicode(sys.stdout) else _NOT_ASCII
    _write(pattern.sub(_json_escape, text.rstrip("\n")), sys.stdout)


def page_console() -> Console:
    """Return a console that takes text as it is: no markup, no emoji codes, no colour of its own.

    On a terminal a page is as wide as that, elsewhere as ``COLUMNS`` says or `PAGE_WIDTH`.
    """
    from rich.console import Console

    given = os.environ.get("COLUMNS", "").isdecimal()
    console = Console(highlight=False, markup=False, emoji=False)
    if console.is_terminal or given:
        return console
    return Console(highlight=False, markup=False, emoji=False, width=PAGE_WIDTH)


def show(drawing: RenderableType, console: Console | None = None) -> None:
    """Print a table or page; signs that the stream cannot write do not move what stands beside."""
    console = console or page_console()
    with console.capture() as captured:
        console.print(drawing)
    text = "\n".join(line.rstrip() for line in captured.get().splitlines())
    if not _writes_unicode(sys.stdout):
        text = text.replace("…", "~").encode(console.encoding, "replace").decode(console.encoding)
    _write(text, sys.stdout)


def prepare_streams() -> None:
    """Set up what the command line prints to, whatever the terminal can write.

    A sign that a stream cannot write is escaped, never an error; lines of the logger ``eventide``
    and warnings made for people go to standard error without their origin.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    log = logging.getLogger("eventide")
    if not any(isinstance(each, _Lines) for each in log.handlers):
        log.addHandler(_Lines())
        log.setLevel(logging.INFO)
        log.propagate = False
    warnings.simplefilter("always", EventideWarning)
    usual = warnings.showwarning

    def told(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
        if issubclass(category, EventideWarning):
            say(f"warning: {message}", err=True, style="yellow")
        else:
            usual(message, category, *where, **more)

    warnings.showwarning = told


class _Lines(logging.Handler):
    """Log lines as plain lines on standard error, wherever that is at the moment."""

    def emit(self, record: logging.LogRecord) -> None:
        say(record.getMessage(), err=True)


def _write(text: str, stream: TextIO | None) -> None:
    """Write in the stream's own encoding; click would send UTF-8 to a terminal of ASCII."""
    if stream is not None:
        stream.write(f"{text}\n")
        stream.flush()


def _writes_unicode(stream: TextIO | None) -> bool:
    return (getattr(stream, "encoding", None) or "utf-8").lower().startswith("utf")


def _json_escape(found: re.Match[str]) -> str:
    return json.dumps(found[0])[1:-1] if found[0] != "\x7f" else r"\u007f"
