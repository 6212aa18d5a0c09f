"""Opinions of a new model for messages that are in the store already."""

from __future__ import annotations

from sqlalchemy import select, update

from eventide.novelty.verdicts import NEW
from eventide.serving.candidate_rows import MEMBER, leave_candidates, undecided
from eventide.serving.live_model import LoadedModel
from eventide.serving.store import MESSAGES, UNGROUPED, Store, insert_new

M = MESSAGES.c
NEWEST, AT_ONCE = 5_000, 200
"""Messages that are scored again, the newest first, and how many between two commits."""


def rescore(store: Store, loaded: LoadedModel, newest: int = NEWEST) -> int:
    """Score messages that nobody has reviewed and another model scored; return how many.

    Those that are not new any more leave their candidate; they and the new ones look for one again.
    """
    with store.reading() as connection:
        other = (M.model != loaded.version) & M.review_action.is_(None)
        query = select(M.seq, M.id, M.text, M.created_at, M.author, M.elements).where(other)
        rows = [
            dict(row)
            for row in connection.execute(query.order_by(M.seq.desc()).limit(newest)).mappings()
        ]
    for start in range(0, len(rows), AT_ONCE):
        part = rows[start : start + AT_ONCE]
        opinions = loaded.opinions(part)
        with store.writing() as connection:
            for row, opinion in zip(part, opinions, strict=True):
                # A review may have come meanwhile: it stands.
                still = (M.seq == row["seq"]) & M.review_action.is_(None)
                connection.execute(update(MESSAGES).where(still).values(**opinion))
            pairs = zip(part, opinions, strict=True)
            new = {row["id"]: opinion["verdict"] == NEW for row, opinion in pairs}
            known = [name for name, found in new.items() if not found]
            left = leave_candidates(connection, MEMBER.message_id.in_(known) & undecided())
            again = [*left, *(name for name, found in new.items() if found)]
            insert_new(connection, UNGROUPED, [{"message_id": name} for name in again])
    return len(rows)
