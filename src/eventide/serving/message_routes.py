"""Routes of messages: send, find, look at one, explain it, export, forget a user."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body, Path, Query
from fastapi.responses import JSONResponse, StreamingResponse

from eventide.errors import InputError
from eventide.serving.access import Reader, Reviewer, Sender, TheDesk
from eventide.serving.examples import ANSWERS, EXAMPLE_MESSAGE, EXAMPLE_SENT, answer
from eventide.serving.incoming import (
    MOST_BATCH,
    MOST_NAME,
    NewMessage,
    milliseconds,
    storable,
)
from eventide.serving.ingest import FAILED, TAKEN
from eventide.serving.learning import forget_user_in_models
from eventide.serving.reviews import NoSuchMessage
from eventide.serving.stored_messages import (
    MessageFilter,
    every_message,
    forget_user,
    newest_first,
    one_message,
    shown,
)

routes = APIRouter(prefix="/v1", tags=["messages"], responses=ANSWERS)

Limit = Annotated[int, Query(ge=1, le=500, description="Messages of one page.")]
Cursor = Annotated[
    str | None, Query(max_length=200, description="`next` of the page before; none for the first.")
]
MessageId = Annotated[str, Path(max_length=MOST_NAME, examples=["1001"])]
Share = Annotated[float | None, Query(ge=0, le=1, allow_inf_nan=False)]
Text = Annotated[str | None, Query(max_length=MOST_NAME)]
One = NewMessage | Annotated[list[NewMessage], Body(min_length=1, max_length=MOST_BATCH)]


@routes.post(
    "/messages",
    status_code=201,
    responses={
        200: answer("All of them were known before.", EXAMPLE_SENT),
        201: answer("Stored; they are on the disk.", EXAMPLE_SENT),
        409: answer("The id is taken by another message.", {"error": TAKEN}),
    },
    response_model=None,
)
async def send_messages(desk: TheDesk, _who: Sender, body: Annotated[One, Body()]) -> JSONResponse:
    """Score one message or a list, keep them, and return the opinions.

    The answer comes once they are durable. Sending a message again is safe: it is known by its id.
    """
    messages = body if isinstance(body, list) else [body]
    outcomes = await desk.batches.submit(messages)
    sent: list[dict[str, Any]] = []
    rejected: list[dict[str, Any]] = []
    for message, outcome in zip(messages, outcomes, strict=True):
        desk.measures.messages.labels(outcome.status).inc()
        if outcome.row is None:
            reason = TAKEN if outcome.status == "taken" else FAILED
            rejected.append({"id": message.id, "reason": reason})
        else:
            sent.append(shown(outcome.row) | {"status": outcome.status})
    if not sent:
        first = rejected[0]["reason"]
        return JSONResponse({"error": first, "rejected": rejected}, 409 if first == TAKEN else 422)
    status = 201 if any(each["status"] == "new" for each in sent) else 200
    return JSONResponse({"messages": sent, "rejected": rejected}, status)


@routes.get(
    "/messages",
    responses={
        200: answer("A page, the newest first.", {"messages": [EXAMPLE_MESSAGE], "next": None})
    },
)
def find_messages(
    desk: TheDesk,
    _who: Reader,
    event: Text = None,
    verdict: Annotated[Literal["known", "review", "new"] | None, Query()] = None,
    min_doubt: Share = None,
    max_doubt: Share = None,
    since: datetime | None = None,
    until: datetime | None = None,
    q: Annotated[
        str | None, Query(max_length=MOST_NAME, description="Words of the text, a user, an id.")
    ] = None,
    reviewed: bool | None = None,
    candidate: Text = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> JSONResponse:
    """Find messages by event, verdict, doubt, time, text and candidate."""
    wanted = MessageFilter(
        event=storable(event),
        verdict=verdict,
        min_doubt=min_doubt,
        max_doubt=max_doubt,
        since=None if since is None else milliseconds(since),
        until=None if until is None else milliseconds(until),
        text=storable(q),
        reviewed=reviewed,
        candidate=storable(candidate),
    )
    page = newest_first(desk.store, wanted, cursor, limit)
    return JSONResponse({"messages": [shown(row) for row in page.rows], "next": page.cursor})


def stored(desk: TheDesk, message_id: str) -> dict[str, Any]:
    """Return a message of the store, or say that there is none."""
    row = one_message(desk.store, storable(message_id))
    if row is None:
        raise NoSuchMessage("no message has this id", next_step="it may have been forgotten")
    return row


@routes.get("/messages/{message_id:path}", responses={200: answer("The message.", EXAMPLE_MESSAGE)})
def show_message(desk: TheDesk, _who: Reader, message_id: MessageId) -> JSONResponse:
    """Return one message."""
    return JSONResponse(shown(stored(desk, message_id)))


@routes.get("/explanation/{message_id:path}")
def explain_message(desk: TheDesk, _who: Reader, message_id: MessageId) -> JSONResponse:
    """Say why a message was assigned as it was: evidence of each view, neighbours, time weights."""
    row, loaded = stored(desk, message_id), desk.live.now
    try:
        told = loaded.classifier.explain(loaded.intake([row]), row["id"], strongest=6).as_dict()
    except InputError as error:  # a method without views
        return JSONResponse({"message": shown(row), "explanation": None, "why": error.what})
    return JSONResponse({"message": shown(row), "explanation": told})


@routes.get("/export", response_class=StreamingResponse)
def export(
    desk: TheDesk, _who: Reader, what: Literal["messages", "labels"] = "messages"
) -> StreamingResponse:
    """Return everything as lines of JSON: all messages, or the labels that people gave."""

    def lines() -> Iterator[str]:
        for row in every_message(desk.store, reviewed=True if what == "labels" else None):
            told = shown(row)
            if what == "labels":
                if row["review_event"] is None:
                    continue
                told = {name: told[name] for name in ("id", "text", "created_at", "user")}
                told |= json.loads(row["elements"]) | {"event": row["review_event"]}
            yield json.dumps(told, ensure_ascii=False) + "\n"

    headers = {"Content-Disposition": f'attachment; filename="eventide-{what}.jsonl"'}
    return StreamingResponse(lines(), media_type="application/x-ndjson", headers=headers)


@routes.delete(
    "/users/{name:path}",
    responses={200: answer("What went.", {"messages": 3, "remembered": 1})},
    tags=["privacy"],
)
def forget(
    desk: TheDesk, _who: Reviewer, name: Annotated[str, Path(max_length=MOST_NAME)]
) -> JSONResponse:
    """Forget a user: in the store, in the model's memory and in those of kept models.

    Weights stay as they were trained.
    """
    name = storable(name)
    gone, live = forget_user(desk.store, name), desk.live
    remembered = forget_user_in_models(
        live.path,
        desk.store,
        name,
        allow_download=live.allow_download,
        salt_file=live.salt_file,
    )
    if remembered:
        desk.reload()
    if gone:
        desk.changed("messages", count=0)
    return JSONResponse({"messages": gone, "remembered": remembered})
