"""What people see of candidate events, and what they decide: accept, dismiss, merge, undo."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection, delete, func, select, update

from eventide.errors import InputError
from eventide.novelty.candidates import ACCEPTED, DISMISSED, FEWEST, OPEN, Candidate
from eventide.serving.candidate_rows import (
    MEMBER,
    C,
    members_of,
    next_version,
    read_candidates,
    write_candidate,
)
from eventide.serving.grouped_candidates import verdict_of
from eventide.serving.incoming import CandidateDecision
from eventide.serving.reviews import new_events, record_together, undo_together
from eventide.serving.store import CANDIDATE_MEMBERS, CANDIDATES, MESSAGES, Store, now_ms
from eventide.serving.stored_messages import find_by_ids, iso

M = MESSAGES.c
SHOWN = 60
"""Candidates that are listed, the largest first."""


class NoSuchCandidate(InputError):
    """There is no candidate with this id."""


def listed_candidates(store: Store, state: str = OPEN) -> list[dict[str, Any]]:
    """Return candidates, the largest first; open ones count what nobody has reviewed by itself."""
    moment = func.coalesce(M.created_at, M.received_at)
    counted = (
        select(MEMBER.candidate, func.count(), func.min(moment), func.max(moment))
        .join(MESSAGES, M.id == MEMBER.message_id)
        .group_by(MEMBER.candidate)
    )
    if state == OPEN:
        counted = counted.where(M.review_action.is_(None))
    with store.reading() as connection:
        figures = {row[0]: row[1:] for row in connection.execute(counted)}
        found = [
            each
            for each in read_candidates(connection, state)
            if figures.get(each.id, (0,))[0] >= (FEWEST if state == OPEN else 1)
        ]
        found = sorted(found, key=lambda each: -figures[each.id][0])[:SHOWN]
        examples = [name for each in found for name in each.examples]
        texts = {row["id"]: row["text"] for row in find_by_ids(connection, examples).values()}
    return [
        {
            "id": each.id,
            "name": each.name,
            "state": each.state,
            "messages": int(figures[each.id][0]),
            "keywords": each.keywords,
            "purity": each.purity,
            "first": iso(figures[each.id][1]),
            "last": iso(figures[each.id][2]),
            "examples": [{"id": n, "text": texts[n]} for n in each.examples if n in texts],
            "merged": each.merged,
        }
        for each in found
    ]


@dataclass(frozen=True)
class _Deciding:
    """A decision on its way: all of it in one transaction."""

    connection: Connection
    decision: CandidateDecision
    reviewer: str
    classes: Container[str]

    def find(self, name: str) -> Candidate:
        """Return the candidate with this id, or the one that it was merged into."""
        for each in read_candidates(self.connection):
            if name == each.id or name in each.merged:
                return each
        raise NoSuchCandidate(
            f"no candidate is called {name!r}", next_step="see GET /v1/candidates"
        )

    def settle(self, candidate: Candidate, state: str, event: str | None) -> tuple[Candidate, int]:
        """Write a decision, as a review of each message that nobody has reviewed by itself."""
        decided = replace(candidate, state=state, name=event or candidate.name)
        write_candidate(self.connection, decided, decided_at=now_ms())
        return decided, self.review(decided)

    def review(self, decided: Candidate) -> int:
        """Review the messages of a candidate that is decided as it is."""
        ids = [row[0] for row in self.connection.execute(members_of(decided.id))]
        action, event = verdict_of(decided, self.classes)
        return record_together(self.connection, ids, action, event, self.reviewer, decided.id)

    def merge(self, candidate: Candidate) -> tuple[Candidate, int]:
        """Merge a candidate into an event, or into another candidate, whose id stays."""
        if self.decision.candidate is None:
            event = self.decision.event
            if event not in self.classes and event not in new_events(self.connection):
                raise InputError(
                    "merge needs the name of an event or the id of another candidate",
                    next_step="see GET /v1/events and GET /v1/candidates",
                )
            return self.settle(candidate, ACCEPTED, event)
        into = self.find(self.decision.candidate)
        if into.id == candidate.id:
            raise InputError("a candidate cannot be merged into itself")
        own = MEMBER.candidate == candidate.id
        self.connection.execute(update(CANDIDATE_MEMBERS).where(own).values(candidate=into.id))
        self.connection.execute(delete(CANDIDATES).where(C.id == candidate.id))
        merged = replace(into, merged=[*into.merged, candidate.id, *candidate.merged])
        write_candidate(self.connection, merged)
        return merged, 0 if merged.state == OPEN else self.review(merged)

    def undo(self, candidate: Candidate) -> tuple[Candidate, int]:
        """Open a candidate again; what was said of single messages stands."""
        if candidate.state == OPEN:
            raise InputError("nothing to undo: nobody has decided on this candidate")
        opened = replace(candidate, state=OPEN)
        write_candidate(self.connection, opened, decided_at=None)
        return opened, undo_together(self.connection, candidate.id)


def decide(
    store: Store,
    candidate_id: str,
    decision: CandidateDecision,
    reviewer: str,
    classes: Container[str],
) -> dict[str, Any]:
    """Accept a candidate as an event, dismiss it, merge it, or undo that; all or nothing."""
    with store.writing() as connection:
        next_version(connection)  # first: a service that groups meanwhile begins again
        deciding = _Deciding(connection, decision, reviewer, classes)
        found = deciding.find(candidate_id)
        if decision.action == "undo":
            decided, count = deciding.undo(found)
        elif found.state != OPEN:
            raise InputError(f"{found.id} was {found.state} already", next_step="undo that first")
        elif decision.action == "accept":
            decided, count = deciding.settle(found, ACCEPTED, decision.event)
        elif decision.action == "merge":
            decided, count = deciding.merge(found)
        else:
            decided, count = deciding.settle(found, DISMISSED, None)
    event = decided.name if decided.state == ACCEPTED else None
    return {"id": decided.id, "state": decided.state, "event": event, "reviewed": count}
