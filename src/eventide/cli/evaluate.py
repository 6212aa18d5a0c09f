"""``eventide evaluate``: how a model does on labelled messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from eventide.cli.options import AsJson, AsNew, ModelPath, Source

if TYPE_CHECKING:
    from eventide.classifier.evaluation import EvaluationReport


def evaluate(
    model: ModelPath,
    source: Source,
    rows: Annotated[
        str, typer.Option(help="test, val, train or all; auto takes test rows if there are any.")
    ] = "auto",
    as_new: AsNew = False,
    as_json: AsJson = False,
) -> None:
    """Compare a model's events with the labels of a file.

    Example: eventide evaluate model messages.parquet --rows test
    """
    from eventide.classifier import load_model
    from eventide.classifier.evaluation import evaluate_model

    report = evaluate_model(load_model(model), source, rows=rows, as_new=as_new)
    if as_json:
        typer.echo(report.model_dump_json(indent=1))
    else:
        show_report(report)


def show_report(report: EvaluationReport) -> None:
    """Print the figures as two tables a person can read."""
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    table = Table(title=f"{report.messages:,} {_which(report.rows)} messages", title_justify="left")
    for name in ("event", "messages", "found", "precision", "mean uncertainty"):
        table.add_column(name, justify="left" if name == "event" else "right")
    for event in report.events:
        table.add_row(
            event.event if event.known else f"{event.event} (unknown to the model)",
            f"{event.messages:,}",
            f"{event.recall:.1%}",
            "-" if event.precision is None else f"{event.precision:.1%}",
            f"{event.uncertainty:.3f}",
        )
    console.print(table)
    typer.echo(
        f"ACC {report.accuracy:.2%}   macro-F1 {report.macro_f1:.2%}   NMI {report.nmi:.3f}   "
        f"AMI {report.ami:.3f}   ARI {report.ari:.3f}"
    )
    if report.error_auroc is not None:
        typer.echo(
            f"uncertainty: {report.uncertainty_right:.3f} where right, "
            f"{report.uncertainty_wrong:.3f} where wrong; "
            f"AUROC against error {report.error_auroc:.3f}"
        )
    typer.echo(f"{report.method}, preset {report.preset}, encoder {report.encoder}")
    typer.echo(f"protocol: {report.protocol}")
    for note in report.notes:
        typer.echo(f"note: {note}")


def _which(rows: str) -> str:
    return "labelled" if rows == "all" else rows
