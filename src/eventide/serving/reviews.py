"""What people said of messages: recorded one after the other, and undone one by one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, func, insert, select, update

from eventide.errors import InputError
from eventide.serving.incoming import NewReview
from eventide.serving.store import MESSAGES, REVIEWS, Store, now_ms
from eventide.serving.stored_messages import IN_ONE, find_by_ids

Row = dict[str, Any]
R = REVIEWS.c


class NoSuchMessage(InputError):
    """There is no message with this id."""


def record_review(
    store: Store, message_id: str, review: NewReview, reviewer: str, classes: Iterable[str]
) -> Row:
    """Keep a review, or undo the latest one; return the message as it is then."""
    with store.writing() as connection:
        row = find_by_ids(connection, [message_id]).get(message_id)
        if row is None:
            raise NoSuchMessage(
                f"no message has the id {message_id!r}", next_step="it may have been forgotten"
            )
        if review.action == "undo":
            undo_latest(connection, message_id)
        else:
            event = _event(review, row, connection, set(classes))
            connection.execute(
                insert(REVIEWS).values(
                    message_id=message_id,
                    action=review.action,
                    event=event,
                    reviewer=reviewer,
                    reviewed_at=now_ms(),
                )
            )
        _settle(connection, row)
        return find_by_ids(connection, [message_id])[message_id]


def record_together(
    connection: Connection,
    ids: Sequence[str],
    action: str,
    event: str | None,
    reviewer: str,
    candidate: str,
) -> int:
    """Keep the decision on a candidate for its messages; what was said of one alone stands."""
    moment, count = now_ms(), 0
    for start in range(0, len(ids), IN_ONE):
        part = MESSAGES.c.id.in_(list(ids[start : start + IN_ONE]))
        still = select(MESSAGES.c.id).where(part, MESSAGES.c.review_action.is_(None))
        said = [
            {
                "message_id": message_id,
                "action": action,
                "event": event,
                "reviewer": reviewer,
                "reviewed_at": moment,
                "candidate": candidate,
            }
            for (message_id,) in connection.execute(still)
        ]
        if said:
            connection.execute(insert(REVIEWS), said)
            values = {"review_action": action, "review_event": event, "reviewed_at": moment}
            values["learned_by"] = None
            own = MESSAGES.c.id.in_([each["message_id"] for each in said])
            connection.execute(update(MESSAGES).where(own).values(assigned=event, **values))
        count += len(said)
    return count


def undo_together(connection: Connection, candidate: str) -> int:
    """Take the decision on a candidate back, message by message; return how many."""
    given = (R.candidate == candidate) & R.undone_at.is_(None)
    ids = [row[0] for row in connection.execute(select(R.message_id).where(given))]
    connection.execute(update(REVIEWS).where(given).values(undone_at=now_ms()))
    for row in find_by_ids(connection, ids).values():
        _settle(connection, row)
    return len(ids)


def undo_latest(connection: Connection, message_id: str) -> None:
    """Take the latest review of a message back."""
    latest = connection.execute(
        select(func.max(R.seq)).where(R.message_id == message_id, R.undone_at.is_(None))
    ).scalar()
    if latest is None:
        raise InputError("nothing to undo: nobody has reviewed this message")
    connection.execute(update(REVIEWS).where(R.seq == latest).values(undone_at=now_ms()))


def new_events(connection: Connection) -> list[str]:
    """Return the events that people have named and that may be unknown to the model."""
    named = select(MESSAGES.c.review_event).where(MESSAGES.c.review_action == "new-event")
    return sorted(event for (event,) in connection.execute(named.distinct()) if event)


def _event(review: NewReview, row: Row, connection: Connection, classes: set[str]) -> str | None:
    """Return the event that a review gives a message."""
    if review.action == "accept":
        return str(row["event"])
    if review.action == "unknown":
        return None
    if review.event is None:
        raise InputError(
            f"{review.action} needs an event", next_step='send {"action": ..., "event": NAME}'
        )
    known = review.event in classes or review.event in new_events(connection)
    if review.action == "relabel" and not known:
        raise InputError(
            f"no event is called {review.event!r}",
            next_step="choose one of GET /v1/events, or send the action new-event",
        )
    return review.event


def _settle(connection: Connection, row: Row) -> None:
    """Make a message say what its latest review says that was not undone; it can be learned."""
    latest = connection.execute(
        select(R.action, R.event, R.reviewed_at)
        .where(R.message_id == row["id"], R.undone_at.is_(None))
        .order_by(R.seq.desc())
        .limit(1)
    ).one_or_none()
    if latest is None:
        assigned = None if row["verdict"] == "new" else row["event"]
        values = {"review_action": None, "review_event": None, "reviewed_at": None}
    else:
        assigned = latest.event
        values = {
            "review_action": latest.action,
            "review_event": latest.event,
            "reviewed_at": latest.reviewed_at,
        }
    changed = update(MESSAGES).where(MESSAGES.c.id == row["id"])
    connection.execute(changed.values(assigned=assigned, learned_by=None, **values))


def review_counts(store: Store) -> dict[str, int]:
    """Count the messages by what was said of them; ``open`` are those nobody has reviewed."""
    counted = select(MESSAGES.c.review_action, func.count()).group_by(MESSAGES.c.review_action)
    with store.reading() as connection:
        return {action or "open": int(count) for action, count in connection.execute(counted)}
