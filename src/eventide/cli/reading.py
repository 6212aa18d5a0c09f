"""How every verb reads messages: the same options, the same words about what was set aside."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from eventide.cli.options import column_mapping

if TYPE_CHECKING:
    from eventide.data import Intake


@dataclass(frozen=True)
class Reading:
    """The options of a verb that reads messages; each field is an option of the same name."""

    column: Annotated[
        list[str] | None,
        typer.Option(
            "--column",
            metavar="OURS=THEIRS",
            help="Map a column, e.g. created_at=time. Repeatable.",
        ),
    ] = None
    rejected: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the quarantined rows here (.csv or .jsonl)."),
    ] = None
    strict: Annotated[
        bool, typer.Option("--strict", help="Fail if any row has to be quarantined.")
    ] = False
    allow_rejected: Annotated[
        bool,
        typer.Option("--allow-rejected", help="Go on even if more than half is quarantined."),
    ] = False
    time_format: Annotated[
        str | None,
        typer.Option(metavar="FORMAT", help="How times are written, e.g. '%d/%m/%Y %H:%M'."),
    ] = None
    day_first: Annotated[
        bool | None,
        typer.Option(
            "--day-first/--month-first",
            help="Read 03/04/2024 as 3 April, or as March 4. Guessed where the column decides it.",
        ),
    ] = None
    encoding: Annotated[
        str | None,
        typer.Option(help="Encoding of a text file, e.g. cp1252. UTF-8, or guessed and said."),
    ] = None

    def columns(self) -> dict[str, str]:
        """Return the mapping that ``--column`` gives, empty where there is none."""
        return column_mapping(self.column or [])

    def read(
        self,
        source: Any,
        *,
        columns: Mapping[str, str] | None = None,
        lists: Sequence[str] = (),
        need_time: bool = False,
        need_lists: bool = True,
        refuse: bool = True,
    ) -> Intake:
        """Read ``source``, write out and tell what was set aside, refuse what is mostly bad.

        With ``refuse=False`` the caller shows all that itself, however bad it is.

        ``columns`` is the mapping to use where the user gave none (a model remembers its own).
        """
        from eventide.data import read

        intake = read(
            source,
            columns=self.columns() or columns,
            lists=lists,
            need_time=need_time,
            need_lists=need_lists,
            time_format=self.time_format,
            day_first=self.day_first,
            encoding=self.encoding,
        )
        if self.rejected is not None:
            intake.write_rejected(self.rejected)
        if not refuse:
            return intake
        intake.check_rejected(strict=self.strict, allow=self.allow_rejected)
        for note in intake.notes:
            typer.echo(f"note: {note}", err=True)
        if len(intake.rejected):
            typer.echo(intake.summary(), err=True)
        return intake


def reads_messages(verb: Callable[..., None]) -> Callable[..., None]:
    """Give a verb the options of `Reading`; it takes them as its parameter ``reading``."""
    options = get_type_hints(Reading, include_extras=True)
    own = get_type_hints(verb, include_extras=True)
    keyword = inspect.Parameter.KEYWORD_ONLY
    shared = [
        inspect.Parameter(each.name, keyword, default=each.default, annotation=options[each.name])
        for each in fields(Reading)
    ]
    parameters: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(verb).parameters.items():
        if name == "reading":
            parameters += shared
        else:
            parameters.append(parameter.replace(kind=keyword, annotation=own[name]))

    @wraps(verb)
    def wrapped(**given: Any) -> None:
        reading = Reading(**{each.name: given.pop(each.name) for each in shared})
        verb(**given, reading=reading)

    wrapped.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    wrapped.__annotations__ = {each.name: each.annotation for each in parameters}
    return wrapped
