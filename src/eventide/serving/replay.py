"""Messages of a file sent to a service one after the other, so that its page is alive."""

from __future__ import annotations

import http.client
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from urllib.parse import urlsplit

import polars as pl

AT_ONCE, PAUSE = 150, 1.5
"""Messages that are there from the start, and the seconds between two of the others."""


@contextmanager
def replayed(path: Path) -> Iterator[Callable[[str], None]]:
    """Give a function that begins to send a file's test messages to an address.

    They get ids of their own, so that the model predicts them as new ones. The first come at once.
    """
    stop = Event()

    def begin(address: str) -> None:
        Thread(target=_send, args=(path, address, stop), daemon=True, name="replay").start()

    try:
        yield begin
    finally:
        stop.set()


def _send(path: Path, address: str, stop: Event) -> None:
    frame = pl.read_parquet(path).filter(pl.col("split") == "test").sort("created_at")
    messages = [
        {
            "id": f"replay-{row['id']}",
            "text": row["text"],
            "created_at": row["created_at"].isoformat(),
            "user": row["user"],
        }
        for row in frame.iter_rows(named=True)
    ]
    batches = [messages[:AT_ONCE], *([each] for each in messages[AT_ONCE:])]
    for batch in batches:
        try:
            _post(address, batch)
        except (OSError, http.client.HTTPException):
            return  # the service has stopped
        if stop.wait(PAUSE):
            return


def _post(address: str, batch: list[dict[str, str]]) -> None:
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=60)
    body, kind = json.dumps(batch).encode(), {"Content-Type": "application/json"}
    connection.request("POST", "/v1/messages", body, kind)
    connection.getresponse().read()
    connection.close()
