"""Running the service: bind, answer, and stop in good order."""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable
from types import FrameType

import uvicorn

from eventide.errors import InputError
from eventide.serving.application import make_application
from eventide.serving.desk import Desk
from eventide.serving.guards import JsonLines, is_loopback, log

GRACE_SECONDS = 10
"""How long requests may take to end once the service was told to stop."""


class DeskServer(uvicorn.Server):
    """A server that ends live updates when it is told to stop, and says when it answers."""

    def __init__(self, config: uvicorn.Config, desk: Desk, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._desk, self._ready = desk, ready

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop taking requests; those at work are finished."""
        self._desk.broadcast.close()
        super().handle_exit(sig, frame)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End in good order: a signal to stop is no failure, so it is not raised again."""
        await super().shutdown(sockets)
        self._captured_signals.clear()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to answer."""
        await super().startup(sockets)
        if self.started:
            self._ready()


def check_access(desk: Desk) -> None:
    """Refuse to answer other machines without tokens."""
    settings = desk.settings
    if not is_loopback(settings.host) and not desk.tokens.holders():
        raise InputError(
            f"{settings.host} can be reached from other machines, and there is no token",
            next_step="make one first: eventide token add NAME --store STORE --role review "
            "(or give --token-file FILE)",
        )


def bound_socket(host: str, port: int) -> socket.socket:
    """Take the address now, before anything slow; a port of 0 takes any."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The protocol is named because asyncio turns Nagle's algorithm off only where it is: with it
    # the body of an answer, sent after the head, waits up to 40 ms for the client.
    taken = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        taken.bind((host.strip("[]"), port))
    except OSError as error:
        taken.close()
        raise InputError(
            f"cannot listen on {host}, port {port}: {error.strerror or error}",
            next_step="choose another: --port N (0 takes any free one)",
        ) from None
    taken.set_inheritable(True)
    return taken


def run(desk: Desk, listening: socket.socket, ready: Callable[[str], None]) -> None:
    """Answer until a signal says to stop, then finish what was begun."""
    if not any(isinstance(each, JsonLines) for each in log.handlers):
        log.addHandler(JsonLines())
        log.setLevel(logging.INFO)
        log.propagate = False
    settings, port = desk.settings, listening.getsockname()[1]
    name = f"[{settings.host}]" if ":" in settings.host else settings.host
    shown = "127.0.0.1" if settings.host in ("0.0.0.0", "::") else name
    config = uvicorn.Config(
        make_application(desk),
        log_config=None,
        access_log=False,
        server_header=False,
        limit_concurrency=settings.limits.connections,
        timeout_graceful_shutdown=GRACE_SECONDS,
        timeout_keep_alive=30,
        lifespan="on",
    )
    server = DeskServer(config, desk, lambda: ready(f"http://{shown}:{port}/"))
    try:
        server.run(sockets=[listening])
    finally:
        desk.store.close()
        listening.close()
