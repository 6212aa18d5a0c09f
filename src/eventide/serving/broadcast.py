"""Live updates: whoever listens is told that something is new, and then asks for it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

HEARTBEAT = 15.0
QUEUED = 50
"""Seconds between signs of life, and what may wait for a slow listener before it is dropped."""


class Broadcast:
    """Send small notes to every listener; a slow one misses some and is none the worse for it."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._queues: set[asyncio.Queue[str | None]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self.closed = False

    @property
    def listeners(self) -> int:
        """How many listen."""
        return len(self._queues)

    def start(self) -> None:
        """Remember the loop that listeners live in."""
        self._loop = asyncio.get_running_loop()

    def tell(self, kind: str, **facts: Any) -> None:
        """Send a note, from any thread."""
        self._later(f"event: {kind}\ndata: {json.dumps(facts)}\n\n")

    def _later(self, note: str | None) -> None:
        if self._loop is not None:
            with suppress(RuntimeError):  # the service has ended, perhaps in this very moment
                self._loop.call_soon_threadsafe(self._send, note)

    def _send(self, note: str | None) -> None:
        for queue in list(self._queues):
            if queue.full():
                queue.get_nowait()
            queue.put_nowait(note)

    def close(self) -> None:
        """End every listener's stream, so that the service can stop."""
        self.closed = True
        self._later(None)

    async def listen(self) -> AsyncIterator[str]:
        """Give notes as they come, in the form of server-sent events."""
        queue: asyncio.Queue[str | None] = asyncio.Queue(QUEUED)
        self._queues.add(queue)
        try:
            yield "retry: 2000\n\n"
            while not self.closed:
                try:
                    note = await asyncio.wait_for(queue.get(), HEARTBEAT)
                except TimeoutError:
                    note = ": still here\n\n"
                if note is None:
                    return
                yield note
        finally:
            self._queues.discard(queue)
