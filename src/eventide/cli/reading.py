"""The options by which every verb reads messages, and what it prints of rejected rows."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial, wraps
from glob import glob, has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from eventide.cli.console import note, say
from eventide.cli.exits import answer_ctrl_c
from eventide.cli.options import column_mapping
from eventide.progress import step

if TYPE_CHECKING:
    from eventide.data import Intake
    from eventide.model import EventClassifier

Given = str | Path | Sequence[str | Path]
STANDARD_INPUT = "-"

_option = partial(typer.Option, rich_help_panel="How messages are read")


@dataclass(frozen=True)
class Reading:
    """The options of a verb that reads messages; each field is an option of the same name."""

    column: Annotated[
        list[str] | None,
        _option(
            "--column",
            metavar="OURS=THEIRS",
            help="Map a column, e.g. created_at=time. Repeatable.",
        ),
    ] = None
    rejected: Annotated[
        Path | None,
        _option(metavar="FILE", help="Write the quarantined rows here (.csv or .jsonl)."),
    ] = None
    strict: Annotated[bool, _option("--strict", help="Fail if any row is quarantined.")] = False
    allow_rejected: Annotated[
        bool, _option("--allow-rejected", help="Go on even if more than half is quarantined.")
    ] = False
    time_format: Annotated[
        str | None,
        _option(metavar="FORMAT", help="How times are written, e.g. '%d/%m/%Y %H:%M'."),
    ] = None
    day_first: Annotated[
        bool | None,
        _option(
            "--day-first/--month-first",
            help="Read 03/04/2024 as 3 April, or as March 4. Guessed where the column decides it.",
        ),
    ] = None
    encoding: Annotated[
        str | None,
        _option(
            metavar="NAME",
            help="Encoding of a text file, e.g. cp1252. Default: UTF-8, or a guess.",
        ),
    ] = None

    def columns(self) -> dict[str, str]:
        """Return the mapping that ``--column`` gives, empty where there is none."""
        return column_mapping(self.column or [])

    def check(self, sources: Given) -> list[Path]:
        """Refuse options that cannot be followed, before anything is read; return the inputs."""
        from eventide.outputs import check_file

        self.columns()
        inputs = input_paths(sources)
        if self.rejected is not None:
            from eventide.data.intake import REJECTED_SUFFIXES

            path = self.rejected.expanduser()
            replaced = _is_quarantine(path)
            check_file(path, overwrite=replaced, inputs=inputs, suffixes=REJECTED_SUFFIXES)
        return inputs

    def read(
        self,
        sources: Given,
        *,
        columns: Mapping[str, str] | None = None,
        lists: Sequence[str] = (),
        need_time: bool = False,
        need_lists: bool = True,
        refuse: bool = True,
    ) -> Intake:
        """Read the messages, write out and tell what was set aside, refuse what is mostly bad.

        ``columns`` is a model's own mapping: followed where the user gave none and it fits. With
        ``refuse=False`` the caller shows all that itself, however bad it is.
        """
        from eventide.data import read

        answer_ctrl_c()
        self.check(sources)
        with step(f"reading {named(sources)}"):
            intake = read(
                one_source(sources),
                columns=self.columns(),
                remembered=columns,
                lists=lists,
                need_time=need_time,
                need_lists=need_lists,
                time_format=self.time_format,
                day_first=self.day_first,
                encoding=self.encoding,
            )
        if self.rejected is not None:
            intake.write_rejected(self.rejected.expanduser())
        if not refuse:
            return intake
        intake.check_rejected(strict=self.strict, allow=self.allow_rejected)
        for each in intake.notes:
            note(each, err=True)
        if len(intake.rejected):
            say(intake.summary(), err=True)
        return intake

    def read_for(self, model: EventClassifier, sources: Given) -> Intake:
        """Read messages that ``model`` is asked about; its own further lists may be missing."""
        return self.read(
            sources, columns=model.columns, lists=model.list_columns(), need_lists=False
        )


def one_source(sources: Given) -> Any:
    """Return what `eventide.data.read` takes: one source as it is, several as a list of paths.

    >>> one_source(["messages.csv"]), one_source(["a.csv", "b.csv"])
    ('messages.csv', [PosixPath('a.csv'), PosixPath('b.csv')])
    """
    if isinstance(sources, (str, Path)):
        return sources
    return sources[0] if len(sources) == 1 else [Path(each) for each in sources]


def input_paths(sources: Given) -> list[Path]:
    """Name the files behind the sources, as far as they are files: no output may go there."""
    paths: list[Path] = []
    for each in [sources] if isinstance(sources, (str, Path)) else sources:
        path = Path(each).expanduser()
        if str(each) == STANDARD_INPUT:
            continue
        if has_magic(str(path)) and not path.exists():
            paths += map(Path, glob(str(path), recursive=True))
        elif isinstance(each, str) and path.name == each and not path.suffix and not path.exists():
            from eventide.data.datasets import registered_path

            built = registered_path(each)
            paths += [] if built is None else [built]
        else:
            paths.append(path)
    return paths


def named(sources: Given) -> str:
    """Name the sources in a line, as the user wrote them."""
    if isinstance(sources, (str, Path)):
        return str(sources)
    return str(sources[0]) if len(sources) == 1 else f"{len(sources)} sources"


def _is_quarantine(path: Path) -> bool:
    """Whether a file holds quarantined rows of an earlier reading, and nothing else is lost."""
    from eventide.data.schema import REJECTED

    try:
        with path.open(encoding="utf-8") as stream:
            first = stream.readline(4096).strip()
    except (OSError, ValueError):
        return False
    heads = ("", ",".join(REJECTED), ",".join(("file", *REJECTED)))
    return first in heads or first.startswith(('{"row":', '{"file":'))


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
