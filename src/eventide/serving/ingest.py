"""The way of a message into the store: known already, or scored, written, then answered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from eventide.serving.guards import log
from eventide.serving.incoming import NewMessage
from eventide.serving.live_model import LiveModel
from eventide.serving.store import Store, now_ms
from eventide.serving.stored_messages import digests_of, find_by_ids, put_in

TAKEN = "the id is taken by another message"
FAILED = "the model failed on it; the log of the service says why"


@dataclass(frozen=True)
class IngestOutcome:
    """What became of one message: ``new``, ``known``, its id ``taken``, or ``failed``."""

    status: str
    row: dict[str, Any] | None


class Ingest:
    """Score and store messages; safe to repeat, by id."""

    def __init__(
        self, store: Store, live: LiveModel, told: Callable[[list[str]], None] = lambda _: None
    ) -> None:
        self.store, self.live, self.told = store, live, told

    def __call__(self, messages: list[NewMessage]) -> list[IngestOutcome]:
        """Return what became of each message; new ones are on the disk by then."""
        digests = [each.digest() for each in messages]
        ids = list(dict.fromkeys(each.id for each in messages))
        with self.store.reading() as connection:
            known = find_by_ids(connection, ids)
        fresh: dict[str, dict[str, Any]] = {}
        for message, digest in zip(messages, digests, strict=True):
            if message.id not in known and message.id not in fresh:
                fresh[message.id] = _row(message, digest)
        stored: dict[str, str] = {}
        if fresh:
            rows = list(fresh.values())
            for row, opinion in zip(rows, self._opinions(rows), strict=True):
                row |= opinion or {}
            rows = [row for row in rows if "event" in row]
            with self.store.writing() as connection:
                put_in(connection, rows)
                stored = digests_of(connection, list(fresh))
            self.told(list(stored))
        outcomes = []
        told: set[str] = set()
        for message, digest in zip(messages, digests, strict=True):
            row = known.get(message.id) or fresh[message.id]
            if message.id in fresh and message.id not in stored:
                outcomes.append(IngestOutcome("failed", None))
            elif stored.get(message.id, row["digest"]) != digest:
                outcomes.append(IngestOutcome("taken", None))
            elif message.id in fresh and message.id not in told:
                told.add(message.id)
                outcomes.append(IngestOutcome("new", row))
            else:
                outcomes.append(IngestOutcome("known", row))
        return outcomes

    def _opinions(self, rows: list[dict[str, Any]]) -> list[dict[str, Any] | None]:
        """Ask the model; a message it fails on does not spoil those that came in beside it."""
        try:
            return list(self.live.now.opinions(rows))
        except Exception:
            if len(rows) == 1:
                log.exception("the model failed on a message")
                return [None]
        return [self._opinions([row])[0] for row in rows]


def _row(message: NewMessage, digest: str) -> dict[str, Any]:
    return {
        "id": message.id,
        "text": message.text,
        "created_at": message.created_ms,
        "author": message.user,
        "elements": message.elements(),
        "digest": digest,
        "received_at": now_ms(),
        "review_action": None,
        "review_event": None,
        "reviewed_at": None,
    }
