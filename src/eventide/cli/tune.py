"""``eventide tune``: settings for every method from the same number of trials."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from eventide.cli.console import print_json, say
from eventide.cli.options import AsJson, Entities, Source, Workers
from eventide.cli.reading import Reading, reads_messages
from eventide.cli.watching import run_lines

if TYPE_CHECKING:
    from eventide.experiments import Step


@reads_messages
def tune(
    source: Source,
    reading: Reading,
    methods: Annotated[
        str, typer.Option(help="Methods, joined by commas; all of them by default.")
    ] = "all",
    out: Annotated[
        Path, typer.Option(metavar="FILE.json", help="Where the chosen settings are written.")
    ] = Path("tuned.json"),
    runs: Annotated[
        Path | None,
        typer.Option(help="Folder for the runs, tuning-NAME by default; runs in it serve again."),
    ] = None,
    entities: Entities = "rules",
    workers: Workers = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the file if it is there already.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Choose settings for every method: 8 trials each, by a proper score, without locked messages.

    Every method starts from the paper's settings. Seven changes are tried one after the other, on
    the regimes random, chronological and scarce-10; a change stays if the class-averaged NLL falls.
    The same command goes on where it was stopped.

    Example: eventide tune crisislex-t7 --methods ce,ucl-ec --out tuned.json
    """
    from eventide.experiments.jobs import check_runs_folder
    from eventide.experiments.prepared import data_name, read_experiment_data
    from eventide.experiments.tuning import check_tunable, write_record
    from eventide.experiments.tuning import tune as run_trials
    from eventide.methods import METHODS
    from eventide.outputs import check_file

    words = [word.strip() for word in methods.split(",") if word.strip()]
    names = [entry.name for entry in METHODS] if words == ["all"] else words
    check_tunable(names)
    name = data_name(source)
    folder = check_runs_folder(runs or Path(f"tuning-{name}"), inputs=[source])
    out = check_file(out, overwrite=overwrite, inputs=[source])
    data = read_experiment_data(reading.read(source), entities=entities, name=name)
    with run_lines() as tell:
        try:
            record = run_trials(
                data,
                names,
                out=folder,
                workers=workers,
                watch=lambda stage, step: tell(_progress(stage, step)),
            )
        except KeyboardInterrupt:
            say(f"stopped; the same command goes on with what is in {folder}", err=True)
            raise typer.Exit(1) from None
    write_record(record, out)
    if as_json:
        print_json(record)
    else:
        for line in _lines(record):
            say(line)
    say(f"settings: {out}", err=as_json)


def _progress(stage: str, step: Step) -> str:
    return f"{stage}: {step.done} of {step.total} runs"


def _lines(record: dict[str, Any]) -> list[str]:
    """Say for every method what was chosen, and how the score changed."""
    lines = []
    for name, row in record["methods"].items():
        if "trials" not in row:
            why = f"as {row['as']}" if "as" in row else f"no trials: {row['why']}"
            lines.append(f"{name}: {why}")
            continue
        scores = [trial["score"] for trial in row["trials"] if trial["kept"]]
        shown = " to ".join(
            "failed" if each is None else f"{each:.3f}" for each in (scores[0], scores[-1])
        )
        chosen = ", ".join(f"{key}={value}" for key, value in row["chosen"].items())
        lines.append(f"{name}: NLL {shown}; {chosen or 'as it started'}")
    return lines
