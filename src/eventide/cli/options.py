"""Options that several verbs share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from eventide.errors import BadSetting

Source = Annotated[
    str, typer.Argument(metavar="FILE", help="A file of messages, or the name of a dataset.")
]
Sources = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE...",
        help="Files of messages, 'globs', the name of a dataset, or - for standard input.",
    ),
]
ModelPath = Annotated[
    Path, typer.Argument(metavar="MODEL", help="The directory of a trained model.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for a program to read.")]
AsNew = Annotated[
    bool, typer.Option("--as-new", help="Treat every message as new, even if the model knows it.")
]
FalseAlarms = Annotated[
    float | None,
    typer.Option(
        metavar="A",
        help="Share of messages of known events that may be called new (0 to 1). Default: 0.05",
    ),
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace what is there already.")]
AllowDownload = Annotated[
    bool,
    typer.Option(
        "--allow-download",
        help="Let the model download weights, import a pipeline or read a file that it names.",
    ),
]
SaltFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="The file that keeps the salt of the model's hashes apart from the model.",
    ),
]
Preset = Annotated[
    str, typer.Option(help="default (tuned by method), untuned, or paper (as printed).")
]
Entities = Annotated[
    str,
    typer.Option(help="rules, spacy:PIPELINE, or none (only those of the column entities)."),
]
ChangeForAll = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="GROUP.NAME=VALUE", help="Change a setting for all. Repeatable."),
]
Workers = Annotated[
    int | None, typer.Option(help="Runs at the same time; all cores by default.", min=1)
]
SplitName = Annotated[str, typer.Option(metavar="NAME", help="How the messages are split.")]
Seed = Annotated[int, typer.Option(help="Seed of every random draw.", min=0, max=2**32 - 1)]


class SplitVerb(TyperCommand):
    """A verb with the option ``--split``: its help is the table of splits, read when needed."""

    def split_names(self) -> list[str]:
        """Name the splits that this verb can use."""
        from eventide.data.splits import SPLITS

        return list(SPLITS)

    def get_params(self, ctx: Any) -> list[Any]:
        """Fill in the help of ``--split`` now: the table imports polars."""
        from eventide.data.splits import SPLITS

        params = super().get_params(ctx)
        for each in params:
            if each.name == "split":
                told = [f"{name}: {SPLITS[name].description}." for name in self.split_names()]
                each.help = " ".join(told)  # type: ignore[attr-defined]
        return params


class TransductiveVerb(SplitVerb):
    """A verb that reads messages inside the graph, so that no split may keep some out."""

    def split_names(self) -> list[str]:
        """Leave the inductive splits out."""
        from eventide.data.splits import SPLITS

        return [name for name, each in SPLITS.items() if not each.inductive]


def one_of(value: str, known: Sequence[str], option: str) -> str:
    """Return ``value`` if the option can have it, else say which it can have.

    >>> one_of("tset", ["train", "test"], "--rows")
    Traceback (most recent call last):
    eventide.errors.BadSetting: --rows cannot be 'tset'
      next:  did you mean --rows test? It can be train, test
    """
    if value in known:
        return value
    close = get_close_matches(value, known, n=1)
    hint = f"did you mean {option} {close[0]}? " if close else ""
    raise BadSetting(
        f"{option} cannot be {value!r}", next_step=f"{hint}It can be {', '.join(known)}"
    )


def column_mapping(pairs: Iterable[str]) -> dict[str, str]:
    """Read ``--column ours=theirs`` options.

    >>> column_mapping(["created_at=time", "event=label"])
    {'created_at': 'time', 'event': 'label'}
    """
    mapping: dict[str, str] = {}
    for pair in pairs:
        ours, sign, theirs = (part.strip() for part in pair.partition("="))
        if not (ours and sign and theirs):
            raise BadSetting(
                f"--column {pair!r} is not of the form OURS=THEIRS",
                next_step="Write for example --column created_at=time",
            )
        if mapping.setdefault(ours, theirs) != theirs:
            raise BadSetting(
                f"--column maps {ours!r} twice, to {mapping[ours]!r} and {theirs!r}",
                next_step="Keep one of the two",
            )
    return mapping


def changed_settings(pairs: Iterable[str]) -> dict[str, str]:
    """Read ``--set group.name=value`` options as keyword arguments of the classifier.

    >>> changed_settings(["training.epochs=30"])
    {'training__epochs': '30'}
    """
    changes: dict[str, str] = {}
    for pair in pairs:
        name, sign, value = (part.strip() for part in pair.partition("="))
        if not (name and sign and value):
            raise BadSetting(
                f"--set {pair!r} is not of the form GROUP.NAME=VALUE",
                next_step="Write for example --set training.epochs=30",
            )
        changes[name.replace(".", "__")] = value
    return changes


def view_mapping(pairs: Iterable[str]) -> dict[str, list[str]] | None:
    """Read ``--view name=column,column`` options; none given means the paper's three views.

    >>> view_mapping(["place=places,regions"])
    {'place': ['places', 'regions']}
    """
    views: dict[str, list[str]] = {}
    for pair in pairs:
        name, _, columns = (part.strip() for part in pair.partition("="))
        listed = [column.strip() for column in columns.split(",") if column.strip()]
        if not name or not listed or name in views:
            raise BadSetting(
                f"--view {pair!r} is not of the form NAME=COLUMN,COLUMN with a name of its own",
                next_step="Write for example --view tags=hashtags,urls --view user=mentions",
            )
        views[name] = listed
    return views or None
