"""Candidate events: messages that fit no known event, grouped by what they share.

Messages that the model calls new (or doubtful ones, where it measures no novelty) are grouped by
the hashtag or telling word that they share; a candidate keeps its id from day to day because the id
is made of that word.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from typing import Any

from sqlalchemy import or_, select
from sqlalchemy.dialects import postgresql, sqlite

from eventide.errors import InputError
from eventide.serving.event_overview import keywords, words
from eventide.serving.incoming import CandidateDecision, NewReview
from eventide.serving.reviews import record_review
from eventide.serving.store import CANDIDATES, MESSAGES, Store, now_ms
from eventide.serving.stored_messages import iso

M = MESSAGES.c
RECENT, FEWEST, MOST, EXAMPLES = 2_000, 3, 12, 3
DOUBTFUL = 0.5
"""Newest messages that are looked at, the fewest of a candidate, how many candidates, examples."""


def candidate_groups(store: Store) -> list[dict[str, Any]]:
    """Return the open candidates, the largest first."""
    unmeasured = M.novelty.is_(None) & (M.doubt >= DOUBTFUL)
    odd = or_(M.verdict == "new", unmeasured)
    with store.reading() as connection:
        query = select(M.id, M.text, M.created_at, M.received_at)
        rows = connection.execute(
            query.where(odd, M.review_action.is_(None)).order_by(M.seq.desc()).limit(RECENT)
        ).all()
        usual = connection.execute(
            select(M.text).where(M.doubt < DOUBTFUL).order_by(M.seq.desc()).limit(RECENT)
        ).all()
        decided = {row.id for row in connection.execute(select(CANDIDATES.c.id))}
    common = Counter(word for (text,) in usual for word in _plain(words(text)))
    spelled = {row.id: words(row.text) for row in rows}
    tags = {word[1:] for own in spelled.values() for word in own if word.startswith("#")}
    said = {message_id: _plain(own) for message_id, own in spelled.items()}
    left = dict(said)
    found: list[tuple[str, str, list[str]]] = []
    while len(found) < MOST:
        counts = Counter(word for own in left.values() for word in own)
        ranked = sorted(
            (word for word, count in counts.items() if count >= FEWEST),
            key=lambda word: (-_weight(word in tags, counts[word], common[word]), word),
        )
        if not ranked:
            break
        word = ranked[0]
        if _weight(word in tags, counts[word], common[word]) < FEWEST / 2:
            break
        members = [message_id for message_id, own in left.items() if word in own]
        for message_id in members:
            del left[message_id]
        name = f"c-{hashlib.sha256(word.encode()).hexdigest()[:10]}"
        if name not in decided:
            found.append((name, word, members))
    by_id = {row.id: row for row in rows}
    telling = keywords(
        {name: [by_id[each].text for each in members] for name, _, members in found}
        | {"": [text for (text,) in usual]}
    )
    return [_candidate(name, word, members, by_id, telling[name]) for name, word, members in found]


def _plain(found: set[str]) -> set[str]:
    return {word.lstrip("#") for word in found}


def _weight(tag: bool, count: int, usual: int) -> float:
    """Count a word by how far it belongs to the odd messages; hashtags say more than words."""
    return count * (count / (count + usual)) * (1.0 if tag else 0.5)


def _candidate(
    name: str, word: str, members: list[str], by_id: dict[str, Any], telling: list[str]
) -> dict[str, Any]:
    moments = [by_id[each].created_at or by_id[each].received_at for each in members]
    return {
        "id": name,
        "name": word,
        "messages": len(members),
        "members": members,
        "keywords": telling,
        "first": iso(min(moments)),
        "last": iso(max(moments)),
        "examples": [{"id": each, "text": by_id[each].text} for each in members[:EXAMPLES]],
    }


def decide(
    store: Store, candidate_id: str, decision: CandidateDecision, reviewer: str, classes: list[str]
) -> dict[str, Any]:
    """Accept a candidate as an event, merge it into one, or dismiss it, message by message."""
    found = next((each for each in candidate_groups(store) if each["id"] == candidate_id), None)
    if found is None:
        raise InputError(
            f"no open candidate is called {candidate_id!r}", next_step="see GET /v1/candidates"
        )
    event = decision.event
    if decision.action == "accept":
        event = event or found["name"]
        review = NewReview(action="relabel" if event in classes else "new-event", event=event)
    elif decision.action == "merge":
        if event not in classes:
            raise InputError(
                "merge needs the name of a known event", next_step="see GET /v1/events"
            )
        review = NewReview(action="relabel", event=event)
    else:
        event, review = None, NewReview(action="unknown")
    with store.writer:
        for message_id in found["members"]:
            record_review(store, message_id, review, reviewer, classes)
        values = {
            "id": candidate_id,
            "name": found["name"],
            "state": decision.action,
            "event": event,
            "members": json.dumps(found["members"]),
            "decided_at": now_ms(),
        }
        insert = sqlite.insert if store.is_sqlite else postgresql.insert
        with store.writing() as connection:
            connection.execute(insert(CANDIDATES).on_conflict_do_nothing(), [values])
    return {"id": candidate_id, "state": decision.action, "event": event} | {
        "reviewed": len(found["members"])
    }
