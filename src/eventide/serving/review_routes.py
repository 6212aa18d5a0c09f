"""Routes of review: the queue, what people say, events and candidates."""

from __future__ import annotations

import json
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query
from fastapi.responses import JSONResponse

from eventide.serving.access import Reader, Reviewer, TheDesk
from eventide.serving.candidate_decisions import decide, listed_candidates
from eventide.serving.event_overview import event_overview
from eventide.serving.examples import (
    ANSWERS,
    EXAMPLE_CANDIDATE,
    EXAMPLE_DECIDED,
    EXAMPLE_MESSAGE,
    answer,
)
from eventide.serving.incoming import MOST_NAME, CandidateDecision, NewReview, storable
from eventide.serving.message_routes import Cursor, MessageId
from eventide.serving.priority import reasons
from eventide.serving.reviews import new_events, record_review, review_counts
from eventide.serving.stored_messages import review_queue, shown

routes = APIRouter(prefix="/v1", tags=["review"], responses=ANSWERS)


@routes.get("/review")
def queue(
    desk: TheDesk,
    _who: Reader,
    event: Annotated[str | None, Query(max_length=MOST_NAME)] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 20,
    cursor: Cursor = None,
) -> JSONResponse:
    """Return messages nobody has reviewed, the most urgent first, each with its reasons."""
    page = review_queue(desk.store, storable(event), cursor, limit)
    counts = desk.live.now.class_counts
    with desk.store.reading() as connection:
        named = new_events(connection)
    found = [
        shown(row)
        | {
            "priority": row["priority"],
            "why": reasons(row, json.loads(row["views"]), counts.get(row["event"])),
        }
        for row in page.rows
    ]
    return JSONResponse(
        {
            "messages": found,
            "next": page.cursor,
            "events": sorted({*counts, *named}),
            "counts": review_counts(desk.store),
        }
    )


@routes.post(
    "/review/{message_id:path}", responses={200: answer("The message then.", EXAMPLE_MESSAGE)}
)
def review(desk: TheDesk, who: Reviewer, message_id: MessageId, said: NewReview) -> JSONResponse:
    """Accept, relabel, call it unknown or a new event, or undo the latest review."""
    classes = desk.live.now.class_counts
    row = record_review(desk.store, storable(message_id), said, who.name, classes)
    desk.measures.reviews.labels(said.action).inc()
    desk.changed("review", id=row["id"])
    return JSONResponse(shown(row))


@routes.get("/events", tags=["events"])
def events(desk: TheDesk, _who: Reader) -> JSONResponse:
    """Return each event: volume over time, keywords, examples, doubt, confusion partners."""
    loaded = desk.live.now
    made = desk.kept(
        "events",
        (loaded.version, desk.moment),
        lambda: event_overview(desk.store, loaded.class_counts),
    )
    return JSONResponse(made)


@routes.get(
    "/candidates",
    tags=["events"],
    responses={200: answer("The largest first.", {"candidates": [EXAMPLE_CANDIDATE]})},
)
def candidates(
    desk: TheDesk, _who: Reader, state: Literal["open", "accepted", "dismissed"] = "open"
) -> JSONResponse:
    """Return candidate events: messages that fit no known event, grouped as they come in.

    ``waiting`` messages are not grouped yet; ``measured`` is whether the model can call one new.
    """
    made = desk.kept(
        f"candidates {state}", desk.moment, lambda: listed_candidates(desk.store, state)
    )
    measured = desk.live.now.classifier.novelty_ is not None
    return JSONResponse(
        {"candidates": made, "waiting": desk.grouping.waiting(), "measured": measured}
    )


@routes.post(
    "/candidates/{candidate_id}",
    tags=["events"],
    responses={200: answer("What was decided.", EXAMPLE_DECIDED)},
)
def decide_candidate(
    desk: TheDesk,
    who: Reviewer,
    candidate_id: Annotated[str, Path(max_length=MOST_NAME)],
    decision: CandidateDecision,
) -> JSONResponse:
    """Accept a candidate as an event, merge it, dismiss it, or undo that."""
    classes = desk.live.now.class_counts
    made = decide(desk.store, storable(candidate_id), decision, who.name, classes)
    desk.changed("candidates", id=made["id"])
    return JSONResponse(made)
