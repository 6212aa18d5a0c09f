"""``eventide figure``: draw a figure of the paper on any labelled messages."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from eventide.cli.console import note, print_json, say
from eventide.cli.exits import stoppable
from eventide.cli.options import (
    AllowDownload,
    AsJson,
    Preset,
    SaltFile,
    Seed,
    SplitName,
    changed_settings,
)
from eventide.cli.reading import Reading, reads_messages
from eventide.cli.watching import run_lines
from eventide.errors import BadSetting

if TYPE_CHECKING:
    from eventide.reports.figures.recipe import Made


@reads_messages
def figure(
    reading: Reading,
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Which figure; --list names them.")
    ] = None,
    source: Annotated[
        str | None,
        typer.Argument(metavar="DATA", help="A file of labelled messages, or a dataset's name."),
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option(
            metavar="MODEL",
            help="Draw a model that is trained already, on DATA or its own validation messages.",
        ),
    ] = None,
    list_them: Annotated[
        bool, typer.Option("--list", help="List the figures and what each shows.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write it here (.png, .pdf or .svg); else NAME.png."),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the file if it is there already.")
    ] = False,
    methods: Annotated[
        str | None, typer.Option(help="Methods to show, with commas: ce,bcl,ucl-ec+cb.")
    ] = None,
    view: Annotated[
        str | None, typer.Option(help="Whose vectors to show: hashtag, entity or user.")
    ] = None,
    seed: Seed = 0,
    seeds: Annotated[
        int, typer.Option(help="How many seeds, from --seed on (groups, sensitivity).", min=1)
    ] = 1,
    split: SplitName = "random",
    regime: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Instead of a split, a regime of eventide compare: tested on locked messages.",
        ),
    ] = None,
    preset: Preset = "default",
    encoder: Annotated[str | None, typer.Option(help="As for eventide train.")] = None,
    change: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="GROUP.NAME=VALUE", help="Change a setting. Repeatable."),
    ] = None,
    kept: Annotated[
        Path | None,
        typer.Option("--runs", help="Folder that keeps finished runs, as compare's (sensitivity)."),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(help="Worker processes (sensitivity); all cores by default.", min=1),
    ] = None,
    salt_file: SaltFile = None,
    allow_download: AllowDownload = False,
    as_json: AsJson = False,
) -> None:
    """Draw a figure of the paper, and print every value in it.

    Example: eventide figure groups crisislex-t7 --methods ce,ucl-ec --out groups.pdf

    Example: eventide figure reliability crisislex-t7 --regime chronological

    Example: eventide figure right-wrong --model model messages.parquet
    """
    if list_them:
        show_list(as_json)
        return
    if name is None:
        raise BadSetting("which figure?", next_step="see: eventide figure --list")
    if model is not None:
        for option, given in (
            ("--methods", methods),
            ("--regime", regime),
            ("--encoder", encoder),
            ("--set", change),
            ("--runs", kept),
            ("--workers", workers),
        ):
            if given:
                raise BadSetting(
                    f"{option} is for training, and a model is trained already",
                    next_step=f"leave {option} out, or --model",
                )
        of_model(
            reading,
            name,
            model,
            source,
            view=view,
            out=out,
            overwrite=overwrite,
            loading={"salt_file": salt_file, "allow_download": allow_download},
            as_json=as_json,
        )
        return
    if regime is not None and split != "random":
        raise BadSetting(
            "a regime splits the messages itself", next_step="leave --split out, or --regime"
        )
    from eventide.experiments.prepared import data_name, needed_lists
    from eventide.features.encoders import DEFAULT_ENCODER
    from eventide.outputs import check_file
    from eventide.reports.figures.recipe import check_figure, make_figure, variants_of
    from eventide.reports.figures.style import FORMATS
    from eventide.reports.figures.trained_runs import check_runs, regime_options

    shown = [each.strip() for each in (methods or "").split(",") if each.strip()]
    chosen_seeds = tuple(range(seed, seed + seeds))
    recipe = check_figure(name, source, methods=shown, seeds=chosen_seeds, view=view)
    asked: dict[str, Any] = {
        "seeds": chosen_seeds,
        "split": split,
        "preset": preset,
        "encoder": encoder or DEFAULT_ENCODER,
        **({} if regime is None else regime_options(regime, encoder or DEFAULT_ENCODER)),
        "changes": {
            key.replace("__", "."): value for key, value in changed_settings(change or []).items()
        },
        "kept": kept,
        "workers": workers,
    }
    variants = variants_of(recipe, shown)
    checked = {name: each for name, each in asked.items() if name != "regime"}
    check_runs(variants, any_protocol=regime is not None, **checked)
    inputs = [] if source is None else [source]
    path = out or Path(f"{name}.png")
    if out is not None or not as_json:
        path = check_file(path, overwrite=overwrite, inputs=inputs, suffixes=FORMATS)
    with run_lines() as tell:
        if recipe.data and source is not None:  # checked above
            intake = reading.read(source, lists=needed_lists(variants))
            asked |= {"data_name": data_name(source), "watch": tell}
            made = make_figure(name, intake, methods=shown, view=view, **asked)
        else:
            made = make_figure(name)
    show_figure(made, path if out is not None or not as_json else None, as_json)


def of_model(
    reading: Reading,
    name: str,
    model: Path,
    source: str | None,
    *,
    view: str | None,
    out: Path | None,
    overwrite: bool,
    loading: dict[str, Any],
    as_json: bool,
) -> None:
    """Draw a figure of a model that is trained already."""
    from eventide.outputs import check_file
    from eventide.reports.figures.recipe import check_model_figure, model_figure
    from eventide.reports.figures.style import FORMATS

    check_model_figure(name)
    path = None
    if out is not None or not as_json:
        inputs: list[str | Path] = [model, *([] if source is None else [source])]
        path = check_file(
            out or Path(f"{name}.png"), overwrite=overwrite, inputs=inputs, suffixes=FORMATS
        )
    from eventide.model import load_model

    with stoppable("nothing was written"):
        loaded = load_model(model, **loading)
        intake = None if source is None else reading.read_for(loaded, source)
        show_figure(model_figure(name, loaded, intake, view=view, data=model.name), path, as_json)


def show_figure(made: Made, path: Path | None, as_json: bool) -> None:
    """Print the values of a figure, and write it if it has a path."""
    from eventide.reports.figures.style import save

    if as_json:
        print_json(made.as_dict())
    else:
        for line in made.values.lines():
            say(line)
    if made.note:
        note(made.note, err=as_json)
    if path is not None:
        save(made.figure, path)
        say(f"figure: {path} ({made.code})", err=as_json)


def show_list(as_json: bool) -> None:
    """Name the figures and what each shows."""
    from eventide.reports.figures import FIGURES

    if as_json:
        print_json([{"name": each.name, "shows": each.summary} for each in FIGURES])
        return
    for each in FIGURES:
        say(f"{each.name:<20}{each.summary}")
