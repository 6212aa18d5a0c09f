"""``eventide train``: learn from labelled messages and write a model."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eventide.cli.options import (
    AsJson,
    Columns,
    Entities,
    Preset,
    Seed,
    Source,
    changed_settings,
    column_mapping,
    view_mapping,
)
from eventide.cli.watching import watching

if TYPE_CHECKING:
    from eventide.classifier import EventClassifier


def train(
    source: Source,
    out: Annotated[Path, typer.Option(help="Directory to write the model to.")],
    method: Annotated[str, typer.Option(help="See: eventide methods.")] = "ucl-ec",
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
    column: Columns = None,
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
    checkpoint_every: Annotated[
        int, typer.Option(help="Epochs between checkpoints; 0 for none.", min=0)
    ] = 10,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue a run that was killed.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Learn from labelled messages and write a model.

    Example: eventide train messages.jsonl --out model --set training.epochs=50
    """
    from eventide.classifier import EventClassifier

    chosen = {} if encoder is None else {"encoder": encoder}
    model = EventClassifier(
        method=method,
        preset=preset,
        protocol=protocol,
        views=view_mapping(view or []),
        entities=entities,
        columns=column_mapping(column or []) or None,
        seed=seed,
        **chosen,
        **changed_settings(change or []),
    )
    checkpoints = out.with_name(f"{out.name}.checkpoint") if checkpoint_every else None
    with watching(model.settings().training.epochs) as watch:
        model.fit(
            source,
            watch=watch,
            checkpoints=checkpoints,
            checkpoint_every=checkpoint_every,
            resume=resume,
        )
    model.save(out, keep_text=keep_text)
    if checkpoints is not None:
        shutil.rmtree(checkpoints, ignore_errors=True)
    if as_json:
        typer.echo(json.dumps({"model": str(out), "best": best_row(model), "notes": model.notes_}))
    else:
        show_training(model, out)


def best_row(model: EventClassifier) -> dict[str, float]:
    """Return the figures of the epoch that was kept."""
    row: dict[str, float] = model.history_[model.best_epoch_ - 1]
    return row


def show_training(model: EventClassifier, out: Path) -> None:
    """Say what was learned, where it is, and what to do next."""
    best, counts = best_row(model), model.counts_
    seconds = sum(row["seconds"] for row in model.history_)
    for note in model.notes_:
        typer.echo(f"note: {note}")
    typer.echo(
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
    typer.echo(f"model: {out}")
    typer.echo(f"next:  eventide evaluate {out} FILE   or   eventide assign {out} NEW_MESSAGES")
