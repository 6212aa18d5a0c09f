"""The ``eventide`` command: collects the verbs and turns errors into exit codes.

Verb modules import heavy packages only inside the functions they call, so that
``eventide --help`` stays quick.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from eventide.cli import (
    assign,
    bench,
    check,
    claims,
    compare,
    data,
    demo,
    discover,
    evaluate,
    explain,
    figure,
    forget,
    labels,
    learn,
    methods,
    report,
    serve,
    stream,
    thresholds,
    token,
    train,
    tune,
    update,
)
from eventide.cli.console import prepare_streams
from eventide.cli.exits import Verbs, exit_code
from eventide.cli.options import SplitVerb, TransductiveVerb
from eventide.runtime.own_process import set_up

app = typer.Typer(
    name="eventide",
    help="Which event is a message about, and how sure can you be?\n\n"
    "Start with: [bold]eventide demo[/bold]",
    cls=Verbs,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    add_completion=False,
)


def _version(asked: bool) -> None:
    if asked:
        import eventide

        typer.echo(f"eventide {eventide.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Hold the options that stand before a verb."""


app.command("demo")(demo.demo)
app.add_typer(data.app, name="data")
app.command("check")(check.check)
app.command("train")(train.train)
app.command("evaluate")(evaluate.evaluate)
app.command("assign")(assign.assign)
app.command("explain")(explain.explain)
app.command("report")(report.report)
app.command("thresholds")(thresholds.thresholds)
app.command("forget")(forget.forget)
app.command("discover")(discover.discover)
app.command("update")(update.update)
app.command("labels")(labels.labels)
app.command("stream")(stream.stream)
app.command("serve")(serve.serve)
app.add_typer(token.app, name="token")
app.command("learn")(learn.learn)
app.command("compare", cls=SplitVerb)(compare.compare)
app.command("tune")(tune.tune)
app.command("claims", cls=SplitVerb)(claims.claims)
app.command("figure", cls=TransductiveVerb)(figure.figure)
app.command("methods")(methods.methods)
app.add_typer(bench.app, name="bench")


def main() -> None:
    """Run the command line; whatever happens ends in an exit code and without a traceback."""
    set_up()
    prepare_streams()
    sys.exit(exit_code(app))
