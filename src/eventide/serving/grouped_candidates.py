"""Candidates as one step of grouping holds them: read from the store, and written back.

Messages that were judged new lie in the store with their vectors. A step reads the newest of them,
and writes only what changed, unless somebody else has changed the candidates meanwhile.
"""

from __future__ import annotations

import zlib
from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sqlalchemy import Connection, delete, insert, select, update

from eventide.novelty.candidates import ACCEPTED, MEMBERS, OPEN, WIDTH, Candidate, Candidates
from eventide.serving.candidate_rows import (
    MEMBER,
    C,
    candidate_values,
    read_candidates,
    write_candidate,
)
from eventide.serving.live_model import LoadedModel
from eventide.serving.reviews import record_together
from eventide.serving.store import (
    CANDIDATE_MEMBERS,
    CANDIDATES,
    GROUPING_STATE,
    MESSAGES,
    UNGROUPED,
    insert_new,
)

M = MESSAGES.c
STATE = GROUPING_STATE.c
MOST = 5_000
"""The newest messages judged new that others are compared with."""

Row = dict[str, Any]


class Superseded(Exception):
    """Somebody else has changed the candidates meanwhile."""


@dataclass
class GroupedCandidates:
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


def moment_of(row: Row) -> int:
    """Return the time of a message, or when it came in where it has none."""
    return int(row["received_at"] if row["created_at"] is None else row["created_at"])


def read_grouped(connection: Connection, loaded: LoadedModel) -> GroupedCandidates:
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
                "created_at": pl.Series([moment_of(row) for row in rows]).cast(
                    MEMBERS["created_at"]
                ),
                "user": [row["author"] for row in rows],
                "candidate": [row["candidate"] for row in rows],
            },
            schema=MEMBERS,
        )
        found.vectors = _vectors(rows, loaded)
    members = {row["id"]: row["candidate"] for row in rows}
    mark = loaded.encoder_mark
    anew = {row["id"] for row in rows if not row["vector"].startswith(mark)}
    return GroupedCandidates(found, int(state.version), mark, kept, members, anew)


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
        timed = [rows[at] | {"created_at": moment_of(rows[at])} for at in others]
        encoded = encoder.encode(loaded.frame(timed))
        found[others] = Candidates.joined_vectors(found[others, :WIDTH], encoded)
    return found


def _taken(connection: Connection, rows: Sequence[Row]) -> None:
    ids = [row["id"] for row in rows]
    if ids:
        connection.execute(delete(UNGROUPED).where(UNGROUPED.c.message_id.in_(ids)))


def write_grouped(
    connection: Connection, now: GroupedCandidates, rows: Sequence[Row], loaded: LoadedModel
) -> None:
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
        raise Superseded
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


def _write_members(
    connection: Connection, now: GroupedCandidates, moved: dict[str, str | None]
) -> None:
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
