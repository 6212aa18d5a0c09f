"""``eventide serve``: the analyst's desk, a service with a page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eventide.cli.console import command, say
from eventide.cli.options import AllowDownload, ModelPath, SaltFile

if TYPE_CHECKING:
    from eventide.serving.desk import DeskSettings

StorePath = Annotated[
    str,
    typer.Option(
        "--store",
        metavar="FILE|URL",
        envvar="EVENTIDE_STORE",
        help="Where messages and reviews are kept: a file (SQLite) or postgresql://...",
    ),
]
DEFAULT_STORE = "eventide-desk.sqlite"


@contextmanager
def serving_packages() -> Iterator[None]:
    """Say which extra to install where a package of the service is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] in ("eventide", "torch"):
            raise
        from eventide.errors import MissingDependency

        raise MissingDependency(
            f"the service needs the package {error.name}",
            next_step="pip install 'eventide[serve]' (with PostgreSQL: 'eventide[postgres]')",
        ) from None


def serve(
    model: ModelPath,
    store: StorePath = DEFAULT_STORE,
    host: Annotated[
        str, typer.Option(help="Address to listen on; other than loopback needs a token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port; 0 takes any free one.", min=0, max=65535)] = 8765,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A host name the service answers to. Repeatable."),
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Tokens beside the store's: NAME ROLE[,ROLE] TOKEN."),
    ] = None,
    held_out: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Labelled messages the page Trust is computed from."),
    ] = None,
    training: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="What the model was trained on, to learn from reviews."),
    ] = None,
    keep_days: Annotated[
        float | None, typer.Option(help="Delete messages that came in longer ago.", min=0.01)
    ] = None,
    rate: Annotated[
        float, typer.Option(help="Requests a second and client; 0 is no limit.", min=0)
    ] = 1000,
    access_log: Annotated[
        bool, typer.Option("--access-log", help="Log every request, as JSON on standard error.")
    ] = False,
    open_page: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
    salt_file: SaltFile = None,
    allow_download: AllowDownload = False,
) -> None:
    """Open the analyst's desk: a service that takes messages, and a page to see and correct them.

    Example: eventide serve model --store desk.sqlite

    Example: eventide serve model --store postgresql://me@db/desk --host 0.0.0.0
    """
    with serving_packages():
        from eventide.serving.desk import DeskSettings
        from eventide.serving.limits import Limits

        settings = DeskSettings(
            host=host,
            port=port,
            allow_hosts=tuple(allow_host or ()),
            limits=Limits(rate=rate or None),
            keep_days=keep_days,
            held_out=held_out,
            training=training,
            access_log=access_log,
        )
    run_desk(
        model,
        store,
        settings,
        token_file=token_file,
        salt_file=salt_file,
        allow_download=allow_download,
        open_page=open_page,
    )


def run_desk(
    model: Path,
    store: str,
    settings: DeskSettings,
    *,
    token_file: Path | None = None,
    salt_file: Path | None = None,
    allow_download: bool = False,
    open_page: bool = False,
    while_open: Callable[[str], None] = lambda _: None,
) -> None:
    """Check everything, then answer until Ctrl-C; ``while_open`` is called with the address."""
    with serving_packages():
        from eventide.serving.access_tokens import read_token_file
        from eventide.serving.desk import Desk
        from eventide.serving.live_model import LiveModel
        from eventide.serving.server import bound_socket, check_access, run
        from eventide.serving.store import Store

        given = read_token_file(token_file) if token_file is not None else None
        check_sources(settings.held_out, settings.training)
        listening = bound_socket(settings.host, settings.port)
        try:
            opened = Store(store)
            live = LiveModel(model, allow_download=allow_download, salt_file=salt_file)
            desk = Desk(opened, live, settings, given)
            check_access(desk)
        except BaseException:
            listening.close()
            raise

        def ready(address: str) -> None:
            say(f"The desk is open: {address}")
            say(f"  model {model}, {len(live.now.class_counts)} events; store {opened.where}")
            if desk.need_token:
                say("  it asks for a token: " + command("token", "add", "NAME", "--role", "review"))
            say("  Ctrl-C stops it")
            while_open(address)
            if open_page:
                import webbrowser

                webbrowser.open(address)

        run(desk, listening, ready)
    say("stopped; every acknowledged message is in the store", err=True)


def check_sources(*sources: str | None) -> None:
    """Refuse files that are not there, before anything slow."""
    from eventide.cli.reading import input_paths
    from eventide.errors import UnreadableSource

    for source in sources:
        if source is not None:
            for path in input_paths([source]):
                if not path.exists():
                    raise UnreadableSource(
                        "there is no such file", where=str(path), next_step="check the spelling"
                    )
