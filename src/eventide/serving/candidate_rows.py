"""Candidates in the store: rows of candidates and of their messages, and one number for both.

The number (``version``) counts the changes. A service that grouped messages writes what it found
only if nobody else changed anything meanwhile, so that several services can share a store.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, delete, func, or_, select, update

from eventide.novelty.candidates import OPEN, Candidate
from eventide.serving.store import CANDIDATE_MEMBERS, CANDIDATES, GROUPING_STATE

C = CANDIDATES.c
MEMBER = CANDIDATE_MEMBERS.c
STATE = GROUPING_STATE.c


def version_now(connection: Connection) -> int:
    """Return how often candidates have changed."""
    return int(connection.execute(select(STATE.version)).scalar_one())


def next_version(connection: Connection) -> None:
    """Say that candidates change; whoever else wants to change them waits until this is done."""
    connection.execute(update(GROUPING_STATE).values(version=STATE.version + 1))


def read_candidates(connection: Connection, state: str | None = None) -> list[Candidate]:
    """Return candidates, the oldest first; ``examples`` are ids of messages here, not texts."""
    query = select(CANDIDATES).order_by(func.length(C.id), C.id)
    if state is not None:
        query = query.where(C.state == state)
    return [Candidate(**json.loads(row.facts)) for row in connection.execute(query)]


def candidate_values(candidate: Candidate) -> dict[str, Any]:
    """Return the columns of a candidate."""
    facts = json.dumps(candidate.as_dict(), ensure_ascii=False)
    return {"id": candidate.id, "state": candidate.state, "facts": facts}


def write_candidate(connection: Connection, candidate: Candidate, **more: Any) -> None:
    """Write a candidate that is there over what it was."""
    values = candidate_values(candidate) | more
    connection.execute(update(CANDIDATES).where(C.id == candidate.id).values(**values))


def members_of(candidate: str) -> Select[Any]:
    """Ask for the ids of a candidate's messages."""
    return select(MEMBER.message_id).where(MEMBER.candidate == candidate)


def leave_candidates(connection: Connection, condition: ColumnElement[bool]) -> list[str]:
    """Take messages out of their candidates, and return their ids.

    What candidates say of themselves is found anew.
    """
    query = select(MEMBER.message_id, MEMBER.candidate).where(condition)
    rows = connection.execute(query).all()
    touched = {row.candidate for row in rows}
    if not rows:
        return []
    next_version(connection)
    connection.execute(delete(CANDIDATE_MEMBERS).where(condition))
    left = select(MEMBER.candidate).where(MEMBER.candidate.is_not(None))
    connection.execute(delete(CANDIDATES).where(C.id.not_in(left)))
    for each in read_candidates(connection):
        if each.id in touched:
            name = each.id if each.state == OPEN else each.name
            write_candidate(connection, replace(each, name=name, keywords=[], examples=[]))
    return [row.message_id for row in rows]


def undecided() -> ColumnElement[bool]:
    """Ask for messages that are alone or in a candidate that nobody has decided."""
    still = select(C.id).where(C.state == OPEN)
    return or_(MEMBER.candidate.is_(None), MEMBER.candidate.in_(still))
