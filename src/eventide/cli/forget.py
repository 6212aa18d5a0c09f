"""``eventide forget``: take messages out of a model's memory."""

from __future__ import annotations

from typing import Annotated

import typer

from eventide.cli.console import say
from eventide.cli.options import AllowDownload, ModelPath, SaltFile


def forget(
    model: ModelPath,
    message_id: Annotated[
        list[str] | None, typer.Option("--id", help="Forget the message with this id. Repeatable.")
    ] = None,
    user: Annotated[
        list[str] | None,
        typer.Option(help="Forget all messages of this author, with or without @. Repeatable."),
    ] = None,
    salt_file: SaltFile = None,
    allow_download: AllowDownload = False,
) -> None:
    """Remove messages from a model's memory, by id or author; its weights stay.

    Example: eventide forget model --user someone
    """
    from eventide.model.forget import forget as forget_stored

    count = forget_stored(
        model,
        ids=message_id or [],
        users=user or [],
        allow_download=allow_download,
        salt_file=salt_file,
    )
    say(f"{count} messages forgotten by {model}; the trained weights are unchanged")
