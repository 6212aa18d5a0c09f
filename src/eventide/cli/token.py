"""``eventide token``: who may use a service from another machine."""

from __future__ import annotations

from typing import Annotated

import typer

from eventide.cli.console import print_json, say
from eventide.cli.options import AsJson
from eventide.cli.serve import DEFAULT_STORE, StorePath, serving_packages
from eventide.safe_text import safe

app = typer.Typer(
    help="Access tokens of a service: add, list, revoke.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
TokenName = Annotated[str, typer.Argument(metavar="NAME", help="Whose token it is.")]


@app.command("add")
def add(
    name: TokenName,
    role: Annotated[
        list[str],
        typer.Option(help="read, ingest (send messages) or review (see, decide). Repeatable."),
    ],
    store: StorePath = DEFAULT_STORE,
) -> None:
    """Make a token and print it; it is kept as a hash and cannot be shown again.

    Example: eventide token add ann --role review --store desk.sqlite
    """
    with serving_packages():
        from eventide.serving.access_tokens import add_token
        from eventide.serving.store import Store

        opened = Store(store)
        try:
            token = add_token(opened, name, role)
        finally:
            opened.close()
    say(token)
    say(f"this is the token of {safe(name)}; it is not shown again", err=True)


@app.command("list")
def show_all(store: StorePath = DEFAULT_STORE, as_json: AsJson = False) -> None:
    """List the tokens of a store: name, roles, when they were made and revoked.

    Example: eventide token list --store desk.sqlite
    """
    with serving_packages():
        from eventide.serving.access_tokens import list_tokens
        from eventide.serving.store import Store

        opened = Store(store)
        try:
            found = list_tokens(opened)
        finally:
            opened.close()
    if as_json:
        print_json(found)
        return
    for each in found:
        ended = f", revoked {each['revoked_at']}" if each["revoked_at"] else ""
        say(f"{safe(each['name'])}  {', '.join(each['roles'])}  since {each['created_at']}{ended}")
    if not found:
        say("no token")


@app.command("revoke")
def revoke(name: TokenName, store: StorePath = DEFAULT_STORE) -> None:
    """Take a token's rights away; a running service notices within seconds.

    Example: eventide token revoke ann --store desk.sqlite
    """
    with serving_packages():
        from eventide.serving.access_tokens import revoke_token
        from eventide.serving.store import Store

        opened = Store(store)
        try:
            revoke_token(opened, name)
        finally:
            opened.close()
    say(f"the token of {safe(name)} is revoked")
