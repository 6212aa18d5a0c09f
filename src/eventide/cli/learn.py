"""``eventide learn``: reviewed labels become a model, and the old one can be brought back."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from eventide.cli.console import print_json, say
from eventide.cli.exits import stoppable
from eventide.cli.options import AllowDownload, AsJson, ModelPath, SaltFile
from eventide.cli.serve import DEFAULT_STORE, StorePath, serving_packages
from eventide.safe_text import safe


def learn(
    model: ModelPath,
    store: StorePath = DEFAULT_STORE,
    training: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="What the model was trained on; needed unless it keeps texts."
        ),
    ] = None,
    epochs: Annotated[int | None, typer.Option(help="Train for so many epochs.", min=1)] = None,
    undo: Annotated[
        bool, typer.Option("--undo", help="Bring the model before the latest learning back.")
    ] = False,
    salt_file: SaltFile = None,
    allow_download: AllowDownload = False,
    as_json: AsJson = False,
) -> None:
    """Let a model learn what people said of messages in a store, and say what changed.

    The model before is kept beside it; a running service reads the new one when told to reload.

    Example: eventide learn model --store desk.sqlite

    Example: eventide learn model --store desk.sqlite --undo
    """
    with serving_packages(), stoppable("the model is as it was"):
        from eventide.serving.learning import bring_back, learn_from_reviews
        from eventide.serving.store import Store

        opened = Store(store)
        try:
            if undo:
                report = bring_back(
                    model, opened, allow_download=allow_download, salt_file=salt_file
                )
            else:
                report = learn_from_reviews(
                    model,
                    opened,
                    training=training,
                    epochs=epochs,
                    allow_download=allow_download,
                    salt_file=salt_file,
                    tell=lambda told: say(told, err=True),
                )
        finally:
            opened.close()
    if as_json:
        print_json(report)
    elif undo:
        say(f"the model {report['model']} is back in place of {report['before']}: {model}")
    else:
        show_changes(report)


def show_changes(report: dict[str, Any]) -> None:
    """Print what a learning changed."""
    say(f"learned from {report['labels']:,} new labels: model {report['model']}")
    if report["new_events"]:
        say("new events: " + ", ".join(safe(each) for each in report["new_events"]))
    reviewed = report["reviewed"]
    say(
        f"reviewed messages: {report['right_after']:,} of {reviewed:,} as people said, "
        f"{report['right_before']:,} before"
    )
    say(f"other messages: {report['others_changed']:,} of {report['others']:,} have another event")
    for each in report["moved"]:
        say(f"  {each['messages']:>6,}  {safe(each['from'], 40)} -> {safe(each['to'], 40)}")
    say(f"the model before is kept: {report['kept']}")
