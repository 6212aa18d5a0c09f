"""Services and databases for the tests of the desk: real processes on loopback that end with us."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.error import HTTPError

from processes import first_line, until

BINARIES = sorted(Path("/usr/lib/postgresql").glob("*/bin"))


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


@contextmanager
def postgres() -> Iterator[str]:
    """Run a PostgreSQL of our own, on loopback; give the address of its server."""
    folder = Path(tempfile.mkdtemp(prefix="eventide-pg-"))
    root = os.getuid() == 0
    as_user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"] if root else []
    if root:
        shutil.chown(folder, "postgres", "postgres")
    tools, port, data = BINARIES[-1], free_port(), folder / "data"
    server = None
    try:
        made = [*as_user, tools / "initdb", "-D", data, "-U", "postgres", "-A", "trust", "-N"]
        subprocess.run(made, check=True, capture_output=True, timeout=120, cwd=folder)
        options = {
            "listen_addresses": "127.0.0.1",
            "port": port,
            "unix_socket_directories": folder,
            "max_connections": 60,
            "shared_buffers": "16MB",
            "fsync": "off",  # a database for each test would wait for the disk most of the time
        }
        words = [f"-c{name}={value}" for name, value in options.items()]
        dying = [*as_user, "--pdeathsig=INT"] if as_user else []  # it must not outlive the tests
        server = subprocess.Popen(
            [*dying, tools / "postgres", "-D", data, *words],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=folder,
        )
        asking = [tools / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(port)]

        def ready() -> bool:
            assert server.poll() is None
            return subprocess.run(asking, timeout=60).returncode == 0

        until(ready, "PostgreSQL")
        yield f"postgresql+psycopg://postgres@127.0.0.1:{port}"
    finally:
        if server is not None:
            server.send_signal(2)  # a fast shutdown
            with suppress(subprocess.TimeoutExpired):
                server.wait(20)
            server.kill()
            server.wait()
        shutil.rmtree(folder, ignore_errors=True)


class Service:
    """A running `eventide serve`."""

    def __init__(self, process: subprocess.Popen[str], address: str) -> None:
        self.process, self.address = process, address.rstrip("/")

    def ask(self, path: str, body: object = None, method: str | None = None, **headers: str):
        """Send a request; return status and answer."""
        content = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"} | headers
        request = urllib.request.Request(
            self.address + path, content, headers, method=method or ("POST" if content else "GET")
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, json.loads(answer.read() or b"null")
        except HTTPError as error:
            return error.code, json.loads(error.read() or b"null")


@contextmanager
def service(model: Path, store: str, *words: str) -> Iterator[Service]:
    """Start the service as a user does, wait until it answers, and end it."""
    command = [
        sys.executable,
        "-m",
        "eventide",
        "serve",
        str(model),
        "--store",
        store,
        "--port",
        "0",
    ]
    process = subprocess.Popen(
        [*command, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        assert process.stdout is not None
        line = first_line(process)
        assert "The desk is open: http://" in line, line
        yield Service(process, line.split()[-1])
    finally:
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def opened(store, live, **settings):
    """A service in this process, and its client."""
    from starlette.testclient import TestClient

    from eventide.serving.application import make_application
    from eventide.serving.desk import Desk, DeskSettings

    desk = Desk(store, live, DeskSettings(**settings))
    return desk, TestClient(make_application(desk), base_url="http://127.0.0.1:8765")


NEWS = {
    "crane": "road closed around ostra bridge, harbour crane collapsed, cranefall",
    "bees": "What a goal. Speechless, angry beeswarm insects in the orchard",
}
"""Two invented events whose words and vectors differ."""


class Sceptic:
    """A model that calls messages with certain words new, whatever else it thinks of them."""

    def __init__(self, live, *words):
        self._live, self._words = live, words or ("cranefall", "beeswarm")

    def __getattr__(self, name):
        return getattr(self._live, name)

    @property
    def now(self):
        return _Sceptical(self._live.now, self._words)


class _Sceptical:
    def __init__(self, loaded, words):
        self._loaded, self._words = loaded, words

    def __getattr__(self, name):
        return getattr(self._loaded, name)

    def opinions(self, rows):
        said = self._loaded.opinions(rows)
        for row, opinion in zip(rows, said, strict=True):
            new = any(word in row["text"] for word in self._words)
            opinion["verdict"] = "new" if new else "known"
            opinion["assigned"] = None if new else opinion["event"]
        return said
