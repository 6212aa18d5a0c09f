"""``eventide demo``: the whole job on the built-in sample, from check to assignment."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from eventide.cli.check import show_profile
from eventide.cli.console import command, say
from eventide.cli.evaluate import show_report
from eventide.cli.exits import stoppable
from eventide.cli.options import Seed
from eventide.cli.reading import Reading
from eventide.cli.report import show_page, write_report
from eventide.cli.train import show_training
from eventide.cli.watching import watching
from eventide.progress import on_terminal

TAKES = "about a minute on two cores"
MARK = "written-by-eventide-demo.txt"
"""A file by which a later demo knows that what lies beside it may be replaced."""


def demo(
    out: Annotated[
        Path, typer.Option(help="Directory to write the sample and the model to.")
    ] = Path("eventide-demo"),
    seed: Seed = 0,
    serve: Annotated[
        bool,
        typer.Option("--serve", help="Then open the desk, with the sample's later messages."),
    ] = False,
    port: Annotated[
        int, typer.Option(help="Port of the desk; 0 takes any free one.", min=0, max=65535)
    ] = 8765,
) -> None:
    """Run everything on the built-in sample: check, train, evaluate, save, report.

    It takes about a minute on two cores.

    Example: eventide demo --out somewhere

    Example: eventide demo --serve
    """
    from eventide.data.sample import sample
    from eventide.model import EventClassifier
    from eventide.outputs import write_parquet, writing
    from eventide.reports.profile import data_profile

    folder = own_folder(out)
    if serve:
        check_serving(port)
    started = time.perf_counter()
    messages, model_path = folder / "sample.parquet", folder / "model"
    say(f"The whole job on invented messages takes {TAKES}.\n")
    with stoppable("the same command starts again"):
        with writing(folder, "the demo"):
            folder.mkdir(parents=True, exist_ok=True)
            (folder / MARK).write_text(
                "The next demo replaces sample.parquet, model and report.html.\n"
            )
        write_parquet(sample(seed=seed), messages)
        intake = Reading().read(messages)
        say("1. The sample: invented messages about invented events\n")
        show_profile(data_profile(intake, source=str(messages)))
        say("\n2. Training\n")
        model = EventClassifier(seed=seed)
        with watching(model.settings().training.epochs) as watch:
            model.fit(intake, watch=watch)
        model.save(model_path, keep_text=True, overwrite=True)
        show_training(model, model_path)
        say("\n3. Results on test messages\n")
        show_report(model.evaluate(intake))
        say("\n4. A report to show a colleague\n")
        page = folder / "report.html"
        write_report(model, intake, page, str(messages), title="Events in the built-in sample")
        show_page(page)
    say(f"\nDone in {time.perf_counter() - started:.0f} s. Try next:")
    for line in next_commands(model_path, messages):
        say(f"  {line}")
    if serve:
        serve_sample(folder, port)


def next_commands(model: Path, messages: Path) -> list[str]:
    """Write what can be typed next; what stands behind a command is a comment to the shell."""
    return [
        f"{command('assign', model, messages)}  # an opinion for every message",
        f"{command('explain', model, messages)}  # why the most doubtful one is so",
        "eventide train YOUR_FILE --out YOUR_MODEL  # on your own messages",
    ]


def check_serving(port: int) -> None:
    """Say that the desk cannot be opened before a minute of work, not after it."""
    from eventide.cli.serve import serving_packages

    with serving_packages():
        from eventide.serving.server import bound_socket

        bound_socket("127.0.0.1", port).close()


def serve_sample(folder: Path, port: int) -> None:
    """Open the desk on the demo's model; test messages come in as if they were happening now."""
    from eventide.cli.serve import run_desk
    from eventide.serving.desk import DeskSettings
    from eventide.serving.replay import replayed

    messages = folder / "sample.parquet"
    settings = DeskSettings(port=port, held_out=str(messages))
    say("\n5. The desk: the sample's test messages come in one by one\n")
    with replayed(messages) as feed:
        run_desk(
            folder / "model",
            str(folder / "desk.sqlite"),
            settings,
            open_page=on_terminal(),
            while_open=feed,
        )


def own_folder(out: Path) -> Path:
    """Return the folder to write to if it is new, empty, or that of an earlier demo."""
    from eventide.errors import OutputError
    from eventide.outputs import check_folder

    folder = out.expanduser()
    if (folder / MARK).is_file():
        return folder
    try:
        return check_folder(folder)
    except OutputError as error:
        raise OutputError(
            error.what, where=str(folder), next_step="choose another: --out FOLDER"
        ) from None
