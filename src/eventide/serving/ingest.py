"""The way of a message into the store: known already, or scored, written, then answered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from eventide.serving.incoming import NewMessage
from eventide.serving.live_model import LiveModel
from eventide.serving.store import Store, now_ms
from eventide.serving.stored_messages import digests_of, find_by_ids, put_in

TAKEN = "the id is taken by another message"


@dataclass(frozen=True)
class Outcome:
    """What became of one message: ``new``, ``known`` from before, or ``taken`` by another one."""

    status: str
    row: dict[str, Any] | None


class Ingest:
    """Score and store messages; safe to repeat, by id."""

    def __init__(
        self, store: Store, live: LiveModel, told: Callable[[list[str]], None] = lambda _: None
    ) -> None:
        self.store, self.live, self.told = store, live, told

    def __call__(self, messages: list[NewMessage]) -> list[Outcome]:
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
            opinions = self.live.now.opinions(rows)
            for row, opinion in zip(rows, opinions, strict=True):
                row |= opinion
            with self.store.writing() as connection:
                put_in(connection, rows)
                stored = digests_of(connection, list(fresh))
            self.told(list(fresh))
        outcomes = []
        told: set[str] = set()
        for message, digest in zip(messages, digests, strict=True):
            row = known.get(message.id) or fresh[message.id]
            if stored.get(message.id, row["digest"]) != digest:
                outcomes.append(Outcome("taken", None))
            elif message.id in fresh and message.id not in told:
                told.add(message.id)
                outcomes.append(Outcome("new", row))
            else:
                outcomes.append(Outcome("known", row))
        return outcomes


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
