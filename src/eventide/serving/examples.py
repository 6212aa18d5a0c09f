"""Examples that the OpenAPI document shows."""

from __future__ import annotations

from typing import Any

EXAMPLE_MESSAGE: dict[str, Any] = {
    "id": "1001",
    "text": "River over its banks in Halvmar, bridge closed #HalvmarFlood",
    "created_at": "2024-03-09T10:00:00.000Z",
    "received_at": "2024-03-09T10:00:02.120Z",
    "user": "ann",
    "elements": {},
    "assigned": "halvmar-flood",
    "review": None,
    "opinion": {
        "event": "halvmar-flood",
        "probability": 0.94,
        "doubt": 0.06,
        "verdict": "known",
        "novelty": 0.02,
        "reason": "fits a known event",
        "belief": 0.9,
        "vacuity": 0.05,
        "dissonance": None,
        "conflict": 0.1,
        "next_event": "tirnvale-flood",
        "next_belief": 0.03,
        "views": {"hashtag": {"event": "halvmar-flood", "uncertainty": 0.2, "neighbours": 117}},
        "model": "0f3a9c2b7d10",
    },
}
EXAMPLE_CANDIDATE: dict[str, Any] = {
    "id": "c0001",
    "name": "crane-harbour-docks",
    "state": "open",
    "messages": 12,
    "keywords": ["crane", "harbour", "docks"],
    "purity": 0.92,
    "first": "2024-03-09T10:00:00.000Z",
    "last": "2024-03-09T14:30:00.000Z",
    "examples": [{"id": "1009", "text": "A crane fell into the harbour"}],
    "merged": ["c0003"],
}
EXAMPLE_DECIDED = {"id": "c0001", "state": "accepted", "event": "harbour-crane", "reviewed": 12}
EXAMPLE_SENT = {"messages": [EXAMPLE_MESSAGE | {"status": "new"}], "rejected": []}


def answer(description: str, example: Any) -> dict[str, Any]:
    """Describe an answer of a route."""
    return {
        "description": description,
        "content": {"application/json": {"example": example}},
    }


_ERROR = {"error": "no message has this id", "next": "it may have been forgotten"}
ANSWERS: dict[int | str, dict[str, Any]] = {
    401: answer("A token is missing, wrong or revoked.", {"error": "a valid token is needed"}),
    403: answer("The token has not the right.", {"error": "this token does not allow to read"}),
    404: answer("There is no such thing.", _ERROR),
    422: answer("The request cannot be used.", {"error": "text: is too short"}),
    429: answer("Too many requests.", {"error": "too many requests", "next": "wait 1 s"}),
    503: answer("Too busy, or the store cannot be reached.", {"error": "4,096 messages wait"}),
}
"""Answers that any route may give."""
