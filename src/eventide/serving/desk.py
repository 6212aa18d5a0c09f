"""Everything one service holds: store, model, batches, tokens, listeners, and what is cached."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock, RLock, Thread
from typing import Any

from eventide.errors import InputError
from eventide.serving.access_tokens import Holder, TokenBook
from eventide.serving.broadcast import Broadcast
from eventide.serving.drift import reference_doubt
from eventide.serving.embedding_map import EmbeddingMap
from eventide.serving.grouping import Grouping
from eventide.serving.guards import log
from eventide.serving.incoming import NewMessage
from eventide.serving.ingest import Ingest, IngestOutcome
from eventide.serving.limits import Limits
from eventide.serving.live_model import LiveModel, LoadedModel
from eventide.serving.measures import Measures
from eventide.serving.micro_batches import MicroBatches
from eventide.serving.rescoring import rescore
from eventide.serving.store import Store, now_ms
from eventide.serving.stored_messages import forget_older
from eventide.serving.trust import held_out_messages, reviewed_messages, trust, validation_messages

DAY_MS = 86_400_000
FRESH_SECONDS = 5


@dataclass(frozen=True)
class DeskSettings:
    """How a service was started."""

    host: str = "127.0.0.1"
    port: int = 8765
    allow_hosts: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)
    need_token: bool = False
    keep_days: float | None = None
    held_out: str | None = None
    training: str | None = None
    epochs: int | None = None
    access_log: bool = False


class Desk:
    """The parts of one running service."""

    def __init__(
        self,
        store: Store,
        live: LiveModel,
        settings: DeskSettings | None = None,
        given_tokens: dict[str, Holder] | None = None,
    ) -> None:
        self.store, self.live = store, live
        self.settings = settings or DeskSettings()
        self.tokens = TokenBook(store, given_tokens)
        self.measures = Measures()
        self.broadcast = Broadcast(self.settings.limits.listeners)
        self._ingest = Ingest(store, live, self._told)
        self.batches: MicroBatches[NewMessage, IngestOutcome] = MicroBatches(self._work)
        self._kept: dict[str, tuple[Any, Any]] = {}
        self._making: dict[str, RLock] = defaultdict(RLock)
        self.job = LearningJob(self)
        self.grouping = Grouping(store, live)
        self.changes = 0

    @property
    def need_token(self) -> bool:
        """Whether requests need a token: when asked for, or as soon as one exists."""
        return self.settings.need_token or bool(self.tokens.holders())

    def _work(self, messages: list[NewMessage]) -> list[IngestOutcome]:
        self.measures.batch.observe(len(messages))
        return self._ingest(messages)

    def _told(self, ids: list[str]) -> None:
        self.changed("messages", count=len(ids))

    def changed(self, kind: str, **facts: Any) -> None:
        """Tell listeners, and forget what was computed from older messages."""
        self.changes += 1
        self.broadcast.tell(kind, **facts)

    @property
    def moment(self) -> tuple[int, int]:
        """What a view of the store is kept for: until a change here, and for seconds at most.

        Another service may write to the same store.
        """
        return self.changes, int(time.monotonic() // FRESH_SECONDS)

    def kept(self, name: str, key: Any, make: Callable[[], Any]) -> Any:
        """Return what was made for ``key``, or make it once for all who wait."""
        with self._making[name]:
            found = self._kept.get(name)
            if found is None or found[0] != key:
                found = self._kept[name] = (key, make())
            return found[1]

    def map(self) -> EmbeddingMap:
        """Return the plane of the model that answers now."""
        loaded = self.live.now
        made: EmbeddingMap = self.kept("map", loaded.version, lambda: EmbeddingMap(loaded))
        return made

    def reference_doubt(self) -> Any:
        """Return the doubt of messages that the model remembers."""
        loaded = self.live.now
        return self.kept("doubt", loaded.version, lambda: reference_doubt(loaded))

    def trust(self, source: str) -> dict[str, Any]:
        """Return the curves of reviewed or of held-out messages."""
        if source not in self.trust_sources():
            raise InputError(
                f"there are no {source} messages",
                next_step="held-out messages are given by --held-out FILE",
            )
        if source == "reviewed":
            return trust(reviewed_messages(self.store))
        held_out, loaded = self.settings.held_out, self.live.now

        def make() -> dict[str, Any]:
            checked = validation_messages(loaded.classifier)
            if source == "held-out" or checked is None:
                checked = held_out_messages(loaded.classifier, held_out)
            return trust(checked)

        made: dict[str, Any] = self.kept(f"trust {source}", loaded.version, make)
        return made

    def trust_sources(self) -> list[str]:
        """Name the messages that trust can be computed from, the best first."""
        kept = validation_messages(self.live.now.classifier) is not None
        held_out = self.settings.held_out is not None
        return ["held-out"] * held_out + ["validation"] * kept + ["reviewed"]

    def reload(self) -> LoadedModel:
        """Read the model's folder again, and score again what nobody has reviewed."""
        loaded = self.live.reload()
        self.measures.model.clear()
        self.measures.model.labels(loaded.version).set(1)
        self.changed("model", version=loaded.version)
        return loaded

    def rescore(self) -> int:
        """Score the newest messages that nobody has reviewed again."""
        count = rescore(self.store, self.live.now)
        self.changed("messages", count=count)
        return count

    def group(self) -> bool:
        """Group some of what came in into candidates; return whether more may wait."""
        more = self.grouping.step()
        if more:
            self.changed("candidates")
        return more

    def forget_old(self) -> int:
        """Delete what is older than the retention period."""
        days = self.settings.keep_days
        gone = forget_older(self.store, now_ms() - int(days * DAY_MS)) if days else 0
        if gone:
            log.info("retention", extra={"facts": {"deleted": gone}})
            self.changed("messages", count=0)
        return gone


class LearningJob:
    """Learning in a process of its own, so that the service goes on answering."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._process: subprocess.Popen[str] | None = None
        self._lock = Lock()
        self._stopped = False
        self.state: dict[str, Any] = {"state": "idle"}

    def start(self) -> dict[str, Any]:
        """Begin, unless it runs already."""
        with self._lock:
            if self.state["state"] == "running":
                return self.state
            self.state = {"state": "running", "since": now_ms()}
            self._stopped = False
        Thread(target=self._run, daemon=True, name="eventide-learning").start()
        return self.state

    def stop(self) -> None:
        """End the process; the model in its folder stays whole."""
        with self._lock:
            self._stopped = True
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                self._process.kill()

    def _run(self) -> None:
        desk, started = self._desk, time.monotonic()
        try:
            with self._lock:
                if self._stopped:  # the service ended before the process could begin
                    return
                self._process = subprocess.Popen(
                    _learning_command(desk),
                    env=os.environ | {"EVENTIDE_STORE": _address(desk.store)},
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE,
                    text=True,
                )
            _, told = self._process.communicate()
            if self._process.returncode:
                lines = [line for line in told.splitlines() if line.strip()]
                at = next((n for n, line in enumerate(lines) if line.startswith("error:")), -3)
                self.state = {"state": "failed", "error": "\n".join(lines[at:])[:2000]}
            else:
                desk.reload()
                count = desk.rescore()
                self.state = {"state": "done", "rescored": count}
        except Exception as error:
            log.exception("learning failed")
            self.state = {"state": "failed", "error": str(error)[:2000]}
        self.state["seconds"] = round(time.monotonic() - started, 1)
        log.info("learning", extra={"facts": dict(self.state)})
        desk.changed("learning", state=self.state["state"])


def _address(store: Store) -> str:
    url = store.engine.url
    if store.is_sqlite:
        return str(Path(str(url.database)).absolute())
    return url.render_as_string(hide_password=False)


def _learning_command(desk: Desk) -> list[str]:
    settings, live = desk.settings, desk.live
    words = [sys.executable, "-m", "eventide", "learn", str(live.path.absolute())]
    if settings.training is not None:
        words += ["--training", settings.training]
    if settings.epochs is not None:
        words += ["--epochs", str(settings.epochs)]
    if live.salt_file is not None:
        words += ["--salt-file", str(live.salt_file)]
    if live.allow_download:
        words.append("--allow-download")
    return words
