"""``eventide train``: train a model on labelled messages."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eventide.cli.console import command, note, say
from eventide.cli.engines import (
    FolderWorkers,
    ObjectStore,
    RayAddress,
    TrainEngine,
    WorkerCpus,
    WorkerMemory,
)
from eventide.cli.exits import stoppable
from eventide.cli.options import (
    AsJson,
    Entities,
    Overwrite,
    Preset,
    SaltFile,
    Seed,
    Sources,
    changed_settings,
    view_mapping,
)
from eventide.cli.reading import Reading, named, reads_messages
from eventide.cli.report import checked_page, show_page, write_report
from eventide.cli.train_together import Together, print_trained
from eventide.cli.watching import watching
from eventide.methods import DEFAULT_METHOD

if TYPE_CHECKING:
    from eventide.model import EventClassifier

INTERRUPTED = 130
BYTES_PER_MESSAGE = 64  # hashes, time and label; vectors come on top


@reads_messages
def train(
    sources: Sources,
    out: Annotated[Path, typer.Option(help="Directory to write the model to.")],
    reading: Reading,
    method: Annotated[str, typer.Option(help="See: eventide methods.")] = DEFAULT_METHOD,
    encoder: Annotated[
        str | None, typer.Option(help="wordllama, tfidf-svd, minilm, ...; joined with +.")
    ] = None,
    preset: Preset = "default",
    protocol: Annotated[
        str,
        typer.Option(
            help="transductive: validation and test messages are in the graph, as in the paper; "
            "inductive: training messages only."
        ),
    ] = "transductive",
    view: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=COLUMN,...", help="A view of your own. Repeatable."),
    ] = None,
    entities: Entities = "rules",
    change: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="GROUP.NAME=VALUE", help="Change a setting. Repeatable."),
    ] = None,
    seed: Seed = 0,
    keep_text: Annotated[
        bool,
        typer.Option(
            "--keep-text", help="Store text and names too, so that explain can show them."
        ),
    ] = False,
    salt_file: SaltFile = None,
    checkpoint_every: Annotated[
        int, typer.Option(help="Epochs between checkpoints; 0 for none.", min=0)
    ] = 10,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue a run that was stopped, from its checkpoint.")
    ] = False,
    report: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write a page about the model and these messages here (.html)."
        ),
    ] = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
    engine: TrainEngine = None,
    workers: FolderWorkers = None,
    ray_address: RayAddress = None,
    worker_cpus: WorkerCpus = 1.0,
    worker_memory: WorkerMemory = None,
    object_store: ObjectStore = None,
) -> None:
    """Train a model on labelled messages and write it.

    Example: eventide train messages.jsonl --out model --set training.epochs=50

    Example: eventide train messages.jsonl --out model --engine torchrun --workers 2
    """
    together = Together.of(engine, workers, ray_address, worker_cpus, worker_memory, object_store)
    from eventide.outputs import check_room

    out = checked_out(out, sources, salt_file, overwrite=overwrite)
    page = None if report is None else checked_page(report, sources, overwrite=overwrite)
    checkpoints = out.with_name(f"{out.name}.checkpoint")
    with (
        together.reserved(out),
        told_how_to_resume(checkpoints),
    ):  # before torch is loaded: errors are quick
        from eventide.model import EventClassifier, load_model
        from eventide.model.artefact import save_model
        from eventide.training.checkpoints import drop_checkpoints

        chosen = {} if encoder is None else {"encoder": encoder}
        model = EventClassifier(
            method=method,
            preset=preset,
            protocol=protocol,
            views=view_mapping(view or []),
            entities=entities,
            columns=reading.columns() or None,
            seed=seed,
            **chosen,
            **changed_settings(change or []),
        )
        epochs = model.settings().training.epochs
        settle_checkpoints(checkpoints, resume=resume, overwrite=overwrite)
        intake = reading.read(sources, lists=model.list_columns())
        check_room(out, BYTES_PER_MESSAGE * len(intake.messages))
        if together.engine is not None:
            kept = checkpoints if checkpoint_every or resume else None
            together.train(
                model, intake, out, kept, checkpoint_every, keep_text=keep_text, salt=salt_file
            )
            if together.tells:
                drop_checkpoints(checkpoints)
                if page is not None:
                    with stoppable(f"the model is in {out}; the report was not written"):
                        write_report(
                            load_model(out, salt_file=salt_file), intake, page, named(sources)
                        )
                together.show(out, intake, page, as_json=as_json)
            return
        with watching(epochs) as watch:
            model.fit(
                intake,
                watch=watch,
                checkpoints=checkpoints if checkpoint_every or resume else None,
                checkpoint_every=checkpoint_every,
                resume=resume,
                salt_file=salt_file,
            )
        save_model(model, out, keep_text=keep_text)
        drop_checkpoints(checkpoints)
    if page is not None:
        with stoppable(f"the model is in {out}; the report was not written"):
            write_report(model, intake, page, named(sources))
    if as_json:
        print_trained(out, best_row(model), model.notes_, intake, page)
    else:
        show_training(model, out)
        if page is not None:
            show_page(page)


def checked_out(out: Path, sources: list[str], salt_file: Path | None, *, overwrite: bool) -> Path:
    """Return where the model goes, or say why it cannot go there, before anything is read."""
    from eventide.outputs import check_folder

    kept = [] if salt_file is None else [salt_file]
    out = check_folder(out, overwrite=overwrite, inputs=[*sources, *kept])
    if salt_file is not None:
        from eventide.model.salt import check_apart

        check_apart(salt_file, out)
    return out


def settle_checkpoints(checkpoints: Path, *, resume: bool, overwrite: bool) -> None:
    """Keep the checkpoint that is to be continued; drop one only if that was asked for."""
    from eventide.training.checkpoints import check_checkpoints, drop_checkpoints

    if overwrite and not resume:
        drop_checkpoints(checkpoints)
    check_checkpoints(checkpoints, resume=resume)


@contextmanager
def told_how_to_resume(checkpoints: Path) -> Iterator[None]:
    """When a person stops the run, say whether and how it can be continued."""
    try:
        yield
    except KeyboardInterrupt:
        from eventide.training.checkpoints import has_checkpoint

        if has_checkpoint(checkpoints):
            words = sys.argv[1:] if "--resume" in sys.argv else [*sys.argv[1:], "--resume"]
            told = f"stopped; continue with:\n  {command(*words)}"
        else:
            told = "stopped before the first checkpoint; nothing was written, and nothing was lost"
        say(f"\n{told}", err=True)
        raise typer.Exit(INTERRUPTED) from None


def best_row(model: EventClassifier) -> dict[str, float]:
    """Return the figures of the epoch that was kept."""
    row: dict[str, float] = model.history_[model.best_epoch_ - 1]
    return row


def show_training(model: EventClassifier, out: Path) -> None:
    """Say what was learned, where it is, and what to do next."""
    best, counts = best_row(model), model.counts_
    seconds = sum(row["seconds"] for row in model.history_)
    for each in model.notes_:
        note(each)
    say(
        f"{model.method} ({model.protocol}) learned {len(model.classes_)} events from "
        f"{counts.labelled:,} labelled and {counts.unlabelled:,} unlabelled messages in "
        f"{seconds:.1f} s; epoch {model.best_epoch_} of {len(model.history_)} kept"
        + (
            f": validation ACC {best['validation_accuracy']:.4f}, "
            f"F1 {best['validation_f1']:.4f} on {counts.validating:,} messages"
            if "validation_accuracy" in best
            else ""
        )
    )
    say(f"model: {out}")
    say(f"next:  {command('evaluate', out)} FILE   or   {command('assign', out)} NEW_MESSAGES")
