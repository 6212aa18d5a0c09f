"""``eventide demo``: the whole job on the built-in sample, from check to assignment."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from eventide.cli.check import show
from eventide.cli.evaluate import show_report
from eventide.cli.options import Overwrite, Seed
from eventide.cli.train import show_training
from eventide.cli.watching import watching


def demo(
    out: Annotated[
        Path, typer.Option(help="Directory to write the sample and the model to.")
    ] = Path("eventide-demo"),
    seed: Seed = 0,
    overwrite: Overwrite = False,
) -> None:
    """Run everything on the built-in sample: check, train, evaluate, save.

    Example: eventide demo --out somewhere
    """
    from eventide.classifier import EventClassifier
    from eventide.classifier.evaluation import evaluate_model
    from eventide.data import read
    from eventide.data.parquet import write_parquet
    from eventide.data.sample import sample
    from eventide.outputs import check_file, check_folder
    from eventide.reports.facts import facts

    started = time.perf_counter()
    messages = check_file(out / "sample.parquet", overwrite=overwrite)
    model_path = check_folder(out / "model", overwrite=overwrite)
    write_parquet(sample(seed=seed), messages)
    typer.echo("1. The sample: invented messages about invented events\n")
    show(facts(read(messages), source=str(messages)))
    typer.echo("\n2. Training\n")
    model = EventClassifier(seed=seed)
    with watching(model.settings().training.epochs) as watch:
        model.fit(messages, watch=watch)
    model.save(model_path, keep_text=True, overwrite=overwrite)
    show_training(model, model_path)
    typer.echo("\n3. Results on test messages\n")
    show_report(evaluate_model(model, messages))
    typer.echo(f"\nDone in {time.perf_counter() - started:.0f} s. Try next:")
    typer.echo(f"  eventide assign {model_path} {messages}     an opinion for every message")
    typer.echo(f"  eventide explain {model_path} {messages}    why the most uncertain one is so")
    typer.echo("  eventide train YOUR_FILE --out YOUR_MODEL    on your own messages")
