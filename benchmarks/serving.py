"""How much can the desk take? Single messages, batches, and slow clients, on loopback.

    python benchmarks/serving.py
    python benchmarks/serving.py --seconds 10 --store postgresql://...

One service with a model of the built-in sample is asked by one client process. Batches of 64 and
the same batches in the model's own process alternate, so that a busy minute slows both; their
ratio is printed. Slow clients send a byte now and then while a normal one goes on. The processor's
seconds of the service are printed too: on a busy machine the clock says little.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import median
from typing import Any

import polars as pl

from eventide.data.sample import sample
from eventide.model import EventClassifier

CONNECTIONS, BATCH, SLOW = 16, 64, 200
Message = dict[str, str]


class Messages:
    """Messages of the sample's test split, each with an id of its own, for ever."""

    def __init__(self) -> None:
        rows = sample().filter(pl.col("split") == "test").to_dicts()
        self._number = itertools.count()
        self._rows = itertools.cycle(rows)

    def take(self, count: int) -> list[Message]:
        """Return the next messages."""
        return [
            {
                "id": f"m{next(self._number)}",
                "text": row["text"],
                "created_at": row["created_at"].strftime("%Y-%m-%dT%H:%M:%SZ"),
                "user": row["user"],
            }
            for row in itertools.islice(self._rows, count)
        ]


async def post(reader: Any, writer: Any, body: bytes) -> int:
    """Send one request on an open connection; return the status."""
    head = f"POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {len(body)}\r\n"
    writer.write(head.encode() + b"Content-Type: application/json\r\n\r\n" + body)
    answer = await reader.readuntil(b"\r\n\r\n")
    length = next(
        int(line.split(b":")[1])
        for line in answer.split(b"\r\n")
        if line.lower().startswith(b"content-length")
    )
    await reader.readexactly(length)
    return int(answer.split()[1])


async def load(
    port: int, messages: Messages, connections: int, size: int, seconds: float
) -> dict[str, float]:
    """Ask without pause on several connections; return rate, latencies and errors."""
    times: list[float] = []
    errors = 0
    end = time.perf_counter() + seconds

    async def one() -> None:
        nonlocal errors
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while time.perf_counter() < end:
            sent = messages.take(size)
            body = json.dumps(sent if size > 1 else sent[0]).encode()
            started = time.perf_counter()
            status = await post(reader, writer, body)
            times.append(time.perf_counter() - started)
            errors += status != 201
        writer.close()

    started = time.perf_counter()
    await asyncio.gather(*(one() for _ in range(connections)))
    taken = time.perf_counter() - started
    ranked = sorted(times)
    return {
        "rate": len(times) * size / taken,
        "median": 1000 * median(times),
        "p99": 1000 * ranked[min(int(0.99 * len(ranked)), len(ranked) - 1)],
        "errors": errors,
        "requests": len(times),
    }


@asynccontextmanager
async def slow_clients(port: int, count: int) -> AsyncIterator[None]:
    """Keep connections open that send a byte of a request now and then."""
    writers = [(await asyncio.open_connection("127.0.0.1", port))[1] for _ in range(count)]
    head = b"POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100000\r\n\r\n"

    async def drip() -> None:
        for writer in writers:
            writer.write(head)
        while True:
            for writer in writers:
                writer.write(b" ")
            await asyncio.sleep(0.5)

    task = asyncio.create_task(drip())
    try:
        yield
    finally:
        task.cancel()
        for writer in writers:
            writer.close()


def processor_seconds(process: int) -> float:
    """Return the processor's seconds of a process so far (Linux)."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def in_process(model: EventClassifier, messages: Messages, seconds: float) -> float:
    """Return messages a second of the model asked for batches in this process."""
    count, started = 0, time.perf_counter()
    while time.perf_counter() - started < seconds:
        model.opinions(messages.take(BATCH))
        count += BATCH
    return count / (time.perf_counter() - started)


def measure(port: int, process: int, model: EventClassifier, seconds: float) -> None:
    """Print every figure."""
    messages = Messages()
    model.opinions(messages.take(BATCH))
    asyncio.run(load(port, messages, CONNECTIONS, 1, min(seconds, 2)))  # warm up
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    before = processor_seconds(process)
    found = asyncio.run(load(port, messages, CONNECTIONS, 1, seconds))
    worked = (processor_seconds(process) - before) / found["requests"]
    print(
        f"single messages, {CONNECTIONS} connections: {found['rate']:.0f} a second, "
        f"median {found['median']:.0f} ms, p99 {found['p99']:.0f} ms, "
        f"{found['errors']:.0f} errors; {1000 * worked:.1f} ms of the processor each"
    )
    pairs = []
    for _ in range(3):
        served = asyncio.run(load(port, messages, 2, BATCH, seconds / 3))
        alone = in_process(model, messages, seconds / 3)
        pairs.append((served["rate"], alone, served["errors"]))
    ratio = median(one / other for one, other, _ in pairs)
    print(
        f"batches of {BATCH}: {median(each[0] for each in pairs):.0f} a second, in-process "
        f"{median(each[1] for each in pairs):.0f}, ratio {ratio:.2f}, "
        f"{sum(each[2] for each in pairs):.0f} errors"
    )

    async def beside() -> tuple[dict[str, float], dict[str, float]]:
        alone = await load(port, messages, 1, 1, seconds / 2)
        async with slow_clients(port, SLOW):
            return alone, await load(port, messages, 1, 1, seconds / 2)

    alone, crowded = asyncio.run(beside())
    print(
        f"one client: p99 {alone['p99']:.0f} ms alone, {crowded['p99']:.0f} ms beside {SLOW} slow "
        f"clients, ratio {crowded['p99'] / alone['p99']:.2f}, {crowded['errors']:.0f} errors"
    )


def main() -> None:
    """Train, start the service, measure, stop."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=8.0)
    parser.add_argument("--store")
    parser.add_argument("--model", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = given.model or Path(folder) / "model"
        if given.model is None:
            model = EventClassifier(encoder="tfidf-svd:32", training__epochs=5)
            model.fit(sample()).save(path)
        store = given.store or str(Path(folder) / "desk.sqlite")
        words = [sys.executable, "-m", "eventide", "serve", str(path), "--store", store]
        process = subprocess.Popen(
            [*words, "--port", "0", "--rate", "0"], stdout=subprocess.PIPE, text=True
        )
        try:
            assert process.stdout is not None
            address = process.stdout.readline().split()[-1]
            port = int(address.rstrip("/").rsplit(":", 1)[1])
            import eventide

            measure(port, process.pid, eventide.load(path), given.seconds)
        finally:
            process.terminate()
            process.wait(60)


if __name__ == "__main__":
    main()
