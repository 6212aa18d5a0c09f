"""Messages that were scored are grouped into candidate events, a little later and elsewhere.

The candidates are those of ``eventide discover``. What was sent waits in the table ``ungrouped``; a
step takes some of it, groups it outside of any transaction, and writes what changed. If another
service changed the candidates meanwhile, the step is dropped and taken again from what is there.
"""

from __future__ import annotations

import zlib
from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sqlalchemy import Connection, delete, func, insert, select, update

from eventide.model.discovery import perhaps_new, take_in
from eventide.novelty.candidates import ACCEPTED, MEMBERS, OPEN, WIDTH, Candidate, Candidates
from eventide.novelty.verdicts import NEW
from eventide.serving.candidate_rows import (
    MEMBER,
    C,
    candidate_values,
    read_candidates,
    version_now,
    write_candidate,
)
from eventide.serving.guards import log
from eventide.serving.live_model import LiveModel, LoadedModel
from eventide.serving.reviews import record_together
from eventide.serving.store import (
    CANDIDATE_MEMBERS,
    CANDIDATES,
    GROUPING_STATE,
    MESSAGES,
    UNGROUPED,
    Store,
    insert_new,
)

M = MESSAGES.c
STATE = GROUPING_STATE.c
AT_ONCE, MOST = 500, 5_000
"""Messages of one step, and the newest messages judged new that are compared with them."""

OPINION = {"verdict": pl.String, "novelty": pl.Float64, "reason": pl.String}
Row = dict[str, Any]


class _Superseded(Exception):
    """Somebody else has changed the candidates meanwhile."""


@dataclass
class _Grouped:
    """Candidates at hand, and what the store holds of them.

    The vectors are those of one encoder; messages whose vector is another one's in the store are
    in ``anew``.
    """

    found: Candidates
    version: int
    encoder: bytes
    candidates: dict[str, Candidate]
    members: dict[str, str | None]
    anew: set[str]

    def listed(self) -> dict[str, Candidate]:
        """Return candidates as they are now; examples are ids: a text is kept in one place only."""
        ids: dict[tuple[str | None, str], str] = {}
        columns = self.found.messages.select("id", "text", "candidate")
        for name, text, candidate in columns.iter_rows():
            ids.setdefault((candidate, text), name)
        return {
            each.id: replace(each, examples=[ids[each.id, text] for text in each.examples])
            for each in self.found.candidates
        }

    def joined(self) -> dict[str, str | None]:
        """Return the candidate of each message as it is now."""
        messages = self.found.messages
        return dict(zip(messages["id"], messages["candidate"], strict=True))

    def changed(self) -> bool:
        """Whether the store holds something else."""
        return self.listed() != self.candidates or self.joined() != self.members


class Grouping:
    """Groups what waits, step by step; any thread may ask for a step."""

    def __init__(self, store: Store, live: LiveModel) -> None:
        self._store, self._live = store, live
        self._lock = Lock()
        self._now: _Grouped | None = None

    def waiting(self) -> int:
        """Count the messages that are not grouped yet."""
        with self._store.reading() as connection:
            query = select(func.count()).select_from(UNGROUPED)
            return int(connection.execute(query).scalar_one())

    def step(self) -> bool:
        """Group some of what waits; return whether candidates changed or more may wait."""
        with self._lock:
            loaded = self._live.now
            with self._store.reading() as connection:
                rows = _waiting_rows(connection)
                stale = (
                    self._now is None
                    or self._now.encoder != loaded.encoder_mark
                    or self._now.version != version_now(connection)
                )
                if stale:
                    self._now = _read(connection, loaded)
            now = self._now
            assert now is not None
            if not rows and not stale:
                return False
            self._now = None  # unless all goes well
            try:
                _take(now, loaded, rows)
            except Exception:
                # What was scored can be grouped; if not, it must not hold up what comes after.
                log.exception("grouping failed", extra={"facts": {"messages": len(rows)}})
                with self._store.writing() as connection:
                    _taken(connection, rows)
                return True
            changed = now.changed()
            if rows or changed:
                try:
                    with self._store.writing() as connection:
                        _write(connection, now, rows, loaded)
                except _Superseded:
                    return True
            if len(now.found.messages) <= 1.2 * MOST:
                self._now = now
            return changed or len(rows) == AT_ONCE

    def catch_up(self) -> None:
        """Group all that waits."""
        while self.step():
            pass


def _waiting_rows(connection: Connection) -> list[Row]:
    query = (
        select(MESSAGES)
        .join(UNGROUPED, UNGROUPED.c.message_id == M.id)
        .order_by(M.seq)
        .limit(AT_ONCE)
    )
    return [dict(row) for row in connection.execute(query).mappings()]


def _taken(connection: Connection, rows: Sequence[Row]) -> None:
    ids = [row["id"] for row in rows]
    if ids:
        connection.execute(delete(UNGROUPED).where(UNGROUPED.c.message_id.in_(ids)))


def _take(now: _Grouped, loaded: LoadedModel, rows: Sequence[Row]) -> None:
    """Let the candidates take in messages; without any they describe themselves anew."""
    timed = [row | {"created_at": _moment(row)} for row in rows]
    frame = loaded.frame(timed) if rows else pl.DataFrame(schema=MEMBERS)
    waiting = np.array([row["review_action"] is None for row in rows], dtype=bool)
    opinions = pl.DataFrame({name: [row[name] for row in rows] for name in OPINION}, schema=OPINION)
    new = waiting & (opinions["verdict"] == NEW).to_numpy()
    perhaps = waiting & perhaps_new(loaded.classifier, opinions)
    take_in(now.found, loaded.classifier, frame, new, perhaps)


def _moment(row: Row) -> int:
    return int(row["received_at"] if row["created_at"] is None else row["created_at"])


def _read(connection: Connection, loaded: LoadedModel) -> _Grouped:
    """Read the newest messages judged new, and the candidates that they are in."""
    state = connection.execute(select(GROUPING_STATE)).one()
    query = (
        select(MEMBER.candidate, MEMBER.vector, MESSAGES)
        .join(MESSAGES, M.id == MEMBER.message_id)
        .order_by(M.seq.desc())
        .limit(MOST)
    )
    rows = [dict(row) for row in connection.execute(query).mappings()][::-1]
    held = {row["candidate"] for row in rows}
    kept = {each.id: each for each in read_candidates(connection) if each.id in held}
    found = Candidates.none()
    found.candidates, found.seen, found.made = list(kept.values()), state.seen, state.made
    if state.frequency is not None:
        found.frequency = np.frombuffer(zlib.decompress(state.frequency), np.int64).copy()
    if rows:
        found.messages = pl.DataFrame(
            {
                "id": [row["id"] for row in rows],
                "text": [row["text"] for row in rows],
                "created_at": pl.Series([_moment(row) for row in rows]).cast(MEMBERS["created_at"]),
                "user": [row["author"] for row in rows],
                "candidate": [row["candidate"] for row in rows],
            },
            schema=MEMBERS,
        )
        found.vectors = _vectors(rows, loaded)
    members = {row["id"]: row["candidate"] for row in rows}
    mark = loaded.encoder_mark
    anew = {row["id"] for row in rows if not row["vector"].startswith(mark)}
    return _Grouped(found, int(state.version), mark, kept, members, anew)


def _packed(vector: NDArray[np.float32], mark: bytes) -> bytes:
    """Write a vector, most of it zeros, behind the mark of the encoder that it comes from."""
    return mark + zlib.compress(vector.astype(np.float32).tobytes(), 1)


def _vectors(rows: Sequence[Row], loaded: LoadedModel) -> NDArray[np.float32]:
    """Read vectors [n, width]; the encoder's part is made anew where it is another one's."""
    mark, encoder = loaded.encoder_mark, loaded.classifier.featuriser_.encoder
    parts = [np.frombuffer(zlib.decompress(row["vector"][len(mark) :]), np.float32) for row in rows]
    found = np.zeros((len(rows), WIDTH + encoder.width), dtype=np.float32)
    others = [at for at, row in enumerate(rows) if not row["vector"].startswith(mark)]
    for at, (row, part) in enumerate(zip(rows, parts, strict=True)):
        own = found.shape[1] if row["vector"].startswith(mark) else WIDTH
        found[at, :own] = part[:own]
    if others:
        timed = [rows[at] | {"created_at": _moment(rows[at])} for at in others]
        encoded = encoder.encode(loaded.frame(timed))
        found[others] = Candidates.joined_vectors(found[others, :WIDTH], encoded)
    return found


def _write(connection: Connection, now: _Grouped, rows: Sequence[Row], loaded: LoadedModel) -> None:
    """Write what a step changed, unless somebody else has changed something."""
    found = now.found
    state = {
        "version": now.version + 1,
        "seen": found.seen,
        "made": found.made,
        "frequency": zlib.compress(found.frequency.astype(np.int64).tobytes(), 1),
    }
    same = STATE.version == now.version
    if connection.execute(update(GROUPING_STATE).where(same).values(**state)).rowcount != 1:
        raise _Superseded
    _taken(connection, rows)
    joined = now.joined()
    moved = {name: own for name, own in joined.items() if now.members.get(name, "") != own}
    _write_members(connection, now, moved)
    candidates = now.listed()
    for gone in now.candidates.keys() - candidates.keys():
        into = next(each.id for each in candidates.values() if gone in each.merged)
        older = MEMBER.candidate == gone  # those that are not at hand any more
        connection.execute(update(CANDIDATE_MEMBERS).where(older).values(candidate=into))
        connection.execute(delete(CANDIDATES).where(C.id == gone))
    for each in candidates.values():
        if each.id not in now.candidates:
            connection.execute(insert(CANDIDATES).values(**candidate_values(each)))
        elif each != now.candidates[each.id]:
            write_candidate(connection, each)
    _follow(connection, candidates, moved, loaded.class_counts)
    now.version, now.candidates, now.members = now.version + 1, candidates, joined
    now.anew = set()


def _write_members(connection: Connection, now: _Grouped, moved: dict[str, str | None]) -> None:
    fresh = []
    for at, name in enumerate(now.found.messages["id"]):
        if name in moved and name not in now.members:
            packed = _packed(now.found.vectors[at], now.encoder)
            fresh.append({"message_id": name, "candidate": moved[name], "vector": packed})
        elif name in now.anew:
            packed = _packed(now.found.vectors[at], now.encoder)
            same = MEMBER.message_id == name
            connection.execute(update(CANDIDATE_MEMBERS).where(same).values(vector=packed))
    insert_new(connection, CANDIDATE_MEMBERS, fresh)
    for name, candidate in moved.items():
        if name in now.members:
            same = MEMBER.message_id == name
            connection.execute(update(CANDIDATE_MEMBERS).where(same).values(candidate=candidate))


def _follow(
    connection: Connection,
    candidates: dict[str, Candidate],
    moved: dict[str, str | None],
    classes: Container[str],
) -> None:
    """What joins a candidate that was decided goes the way of that decision."""
    for each in candidates.values():
        if each.state != OPEN:
            own = [name for name, candidate in moved.items() if candidate == each.id]
            action, event = verdict_of(each, classes)
            record_together(connection, own, action, event, f"candidate {each.id}", each.id)


def verdict_of(candidate: Candidate, classes: Container[str]) -> tuple[str, str | None]:
    """Return the review that a decision is for each message: action and event."""
    if candidate.state != ACCEPTED:
        return "unknown", None
    return "relabel" if candidate.name in classes else "new-event", candidate.name
