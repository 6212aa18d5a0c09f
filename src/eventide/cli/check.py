"""``eventide check``: a profile of messages before training on them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eventide.cli.console import PAGE_WIDTH, page_console, print_json, say, show
from eventide.cli.options import AsJson, Sources
from eventide.cli.reading import Reading, reads_messages

if TYPE_CHECKING:
    from eventide.reports.profile import DataProfile


@reads_messages
def check(sources: Sources, reading: Reading, as_json: AsJson = False) -> None:
    """Profile messages before training on them: counts, times, events, views, repeated texts.

    Example: eventide check messages.csv --column created_at=time
    """
    from eventide.reports.profile import data_profile

    intake = reading.read(sources, refuse=False)
    options = reading_options(reading)
    measured = data_profile(intake, source=sources, columns=reading.columns(), options=options)
    if as_json:
        print_json(measured.model_dump_json(indent=2))
    else:
        show_profile(measured)
    if reading.strict:
        intake.check_rejected(strict=True)


def reading_options(reading: Reading) -> list[str]:
    """Write the options again by which the messages were read, but for ``--column``.

    >>> reading_options(Reading(day_first=True, encoding="cp1252"))
    ['--day-first', '--encoding', 'cp1252']
    """
    options = ["--time-format", reading.time_format] if reading.time_format is not None else []
    if reading.day_first is not None:
        options.append("--day-first" if reading.day_first else "--month-first")
    return options + (["--encoding", reading.encoding] if reading.encoding is not None else [])


def show_profile(measured: DataProfile) -> None:
    """Print the profile: in colour on a terminal, as plain text of fixed width in a pipe."""
    from eventide.reports.profile.page import next_lines, page

    console = page_console()
    console.width = min(console.width, PAGE_WIDTH)
    plain = not console.encoding.lower().startswith("utf")
    show(page(measured, plain=plain), console)
    say(next_lines(measured))  # not on the page, which would fold a command
