"""kill -9 during ingest, many times: is an acknowledged message ever lost, or one doubled?

    python benchmarks/killing.py --rounds 100
    python benchmarks/killing.py --rounds 100 --store postgresql://...

A supervisor loads a small model once and forks a service for every round. Clients send single
messages and batches without pause; the service is killed after a moment; what was not acknowledged
is sent again to the next one. In the end the store is compared with what was acknowledged.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

SENDERS = 4


def make_model(path: Path) -> None:
    """Train a tiny model on a part of the sample; it keeps no text."""
    import polars as pl

    from eventide.data.sample import sample
    from eventide.model import EventClassifier

    messages = sample().filter(pl.int_range(pl.len()).over("event", "split") < 15)
    EventClassifier(encoder="tfidf-svd:8", training__epochs=1).fit(messages).save(path)


def supervise(model: str, store: str, rounds: int) -> None:
    """Fork a service for every round; each lives until it is killed."""
    from eventide.serving.desk import Desk, DeskSettings
    from eventide.serving.live_model import LiveModel
    from eventide.serving.server import bound_socket, run
    from eventide.serving.store import Store

    live = LiveModel(model)  # it has not computed yet, so that a fork can
    listening = bound_socket("127.0.0.1", 0)
    print(listening.getsockname()[1], flush=True)
    for _ in range(rounds + 1):
        child = os.fork()
        if not child:
            parent = os.getppid()
            threading.Thread(target=end_with, args=(parent,), daemon=True).start()
            run(Desk(Store(store), live, DeskSettings()), listening, lambda _: None)
            os._exit(0)
        print(child, flush=True)
        os.waitpid(child, 0)


def end_with(parent: int) -> None:
    """End a service whose supervisor has gone."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


class Sender(threading.Thread):
    """Send messages one after the other until told to stop; remember what was acknowledged."""

    def __init__(self, number: int, port: int, seed: int) -> None:
        super().__init__(daemon=True)
        self.number, self.port, self.random = number, port, random.Random(seed)
        self.acknowledged: list[str] = []
        self.sent = 0
        self.pending: list[dict[str, str]] = []
        self.stop = False

    def run(self) -> None:
        """Send, and send again what was not acknowledged."""
        connection = None
        while not self.stop:
            if not self.pending:
                size = self.random.choice((1, 1, 1, 5, 80))
                self.pending = [self.message() for _ in range(size)]
            try:
                connection = connection or http.client.HTTPConnection(
                    "127.0.0.1", self.port, timeout=20
                )
                body = json.dumps(self.pending).encode()
                connection.request(
                    "POST", "/v1/messages", body, {"Content-Type": "application/json"}
                )
                answer = connection.getresponse()
                told = json.loads(answer.read())
                if answer.status in (200, 201):
                    self.acknowledged += [each["id"] for each in told["messages"]]
                    self.pending = []
            except (OSError, http.client.HTTPException, ValueError):
                connection = None
                time.sleep(0.02)

    def message(self) -> dict[str, str]:
        """Write the next message."""
        self.sent += 1
        name = f"{self.number}-{self.sent}"
        return {
            "id": name,
            "text": f"message {name} about a #flood",
            "created_at": "2024-03-09T10:00:00Z",
        }


def measure(rounds: int, store: str, folder: Path) -> bool:
    """Kill, compare, print; return whether nothing was lost or doubled."""
    from sqlalchemy import text

    from eventide.serving.store import Store

    model = folder / "model"
    if not model.exists():
        make_model(model)
    words = [sys.executable, __file__, "--supervise", str(model), "--store", store]
    supervisor = subprocess.Popen(
        [*words, "--rounds", str(rounds)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert supervisor.stdout is not None
    port, draw = int(supervisor.stdout.readline()), random.Random(0)
    senders = [Sender(number, port, number) for number in range(SENDERS)]
    killed_at_work = 0
    for number in range(rounds):
        child = int(supervisor.stdout.readline())
        wait_for(port)
        if not number:
            for sender in senders:
                sender.start()
        before = sum(len(each.acknowledged) for each in senders)
        deadline = time.monotonic() + 30
        while (
            sum(len(each.acknowledged) for each in senders) == before
            and time.monotonic() < deadline
        ):
            time.sleep(0.005)
        time.sleep(draw.uniform(0.0, 0.25))
        killed_at_work += any(each.pending for each in senders)
        os.kill(child, signal.SIGKILL)
    last = int(supervisor.stdout.readline())
    wait_for(port)
    for sender in senders:
        sender.stop = True
    for sender in senders:
        sender.join(60)
    os.kill(last, signal.SIGTERM)
    supervisor.wait(60)
    opened = Store(store)
    with opened.reading() as connection:
        stored = [row[0] for row in connection.execute(text("SELECT id FROM messages"))]
    opened.close()
    acknowledged = [name for sender in senders for name in sender.acknowledged]
    lost, doubled = set(acknowledged) - set(stored), len(stored) - len(set(stored))
    print(
        f"{rounds} kills ({killed_at_work} while a request was open): "
        f"{len(acknowledged):,} acknowledged, {len(stored):,} stored, "
        f"{len(lost)} lost, {doubled} doubled"
    )
    return bool(acknowledged) and not lost and not doubled


def wait_for(port: int) -> None:
    """Wait until a service answers."""
    for _ in range(3000):
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
            connection.request("GET", "/healthz")
            if connection.getresponse().status == 200:
                return
        except (OSError, http.client.HTTPException):
            time.sleep(0.02)
    raise SystemExit("the service does not answer")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--store")
    parser.add_argument("--supervise")
    given = parser.parse_args()
    if given.supervise:
        supervise(given.supervise, given.store, given.rounds)
    else:
        with tempfile.TemporaryDirectory() as temporary:
            where = given.store or str(Path(temporary) / "desk.sqlite")
            sys.exit(0 if measure(given.rounds, where, Path(temporary)) else 1)
