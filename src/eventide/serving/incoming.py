"""What a client may send: messages and reviews, checked, tidied and bounded."""

from __future__ import annotations

import hashlib
import json
import re
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator

from eventide.data.parsing.time_strings import FIRST_MS, LAST_MS

MOST_TEXT = 20_000
MOST_NAME = 300
MOST_ELEMENTS = 100
MOST_BATCH = 1_000
"""Limits of a request: characters of a text and of a name, elements in a list, messages."""

_UNSTORABLE = re.compile(r"[\x00\ud800-\udfff]")


def storable(value: Any) -> Any:
    r"""Replace what no database can hold: null bytes and halves of characters.

    >>> storable("a\x00b")
    'a\ufffdb'
    """
    if isinstance(value, str):
        return _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", value)
    return value


def _tidy(value: Any) -> Any:
    value = str(value) if type(value) is int else value
    return storable(value.strip() if isinstance(value, str) else value)


def _tidy_or_none(value: Any) -> Any:
    return _tidy(value) or None if isinstance(value, (str, int)) else value


Name = Annotated[str, BeforeValidator(_tidy), Field(min_length=1, max_length=MOST_NAME)]
MaybeName = Annotated[
    Annotated[str, Field(max_length=MOST_NAME)] | None, BeforeValidator(_tidy_or_none)
]
Words = Annotated[list[Name], Field(max_length=MOST_ELEMENTS)] | None


class NewMessage(BaseModel):
    """A message to be scored and kept. Elements are read from the text where they are missing."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "id": "1001",
                    "text": "River over its banks in Halvmar, bridge closed #HalvmarFlood",
                    "created_at": "2024-03-09T10:00:00Z",
                    "user": "ann",
                }
            ]
        },
    )

    id: Name = Field(description="The same id twice is the same message: sending again is safe.")
    text: Annotated[str, BeforeValidator(_tidy), Field(min_length=1, max_length=MOST_TEXT)]
    created_at: datetime | None = Field(
        None, description="ISO 8601, or seconds since 1970; without a zone it is UTC."
    )
    user: MaybeName = None
    hashtags: Words = None
    mentions: Words = None
    urls: Words = None
    entities: Words = None

    @field_validator("created_at", mode="after")
    @classmethod
    def in_range(cls, value: datetime | None) -> datetime | None:
        """Refuse times that the model could not use either."""
        if value is not None and not FIRST_MS <= milliseconds(value) < LAST_MS:
            raise ValueError("the time is out of range")
        return value

    @property
    def created_ms(self) -> int | None:
        """The time in milliseconds since 1970."""
        return None if self.created_at is None else milliseconds(self.created_at)

    def elements(self) -> str:
        """Return the lists that were given, as JSON."""
        given = {
            name: value
            for name in ("hashtags", "mentions", "urls", "entities")
            if (value := getattr(self, name)) is not None
        }
        return json.dumps(given, ensure_ascii=False)

    def digest(self) -> str:
        """Return a hash of all that was sent, to tell a repeated message from another one."""
        sent = (self.id, self.text, self.created_ms, self.user, self.elements())
        return hashlib.sha256(json.dumps(sent).encode()).hexdigest()


def milliseconds(moment: datetime) -> int:
    """Count from 1970; a time without a zone is UTC."""
    moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    elapsed = moment - datetime(1970, 1, 1, tzinfo=UTC)
    return elapsed.days * 86_400_000 + elapsed.seconds * 1000 + elapsed.microseconds // 1000


class NewReview(BaseModel):
    """What a person says of a message; ``relabel`` and ``new-event`` name the event."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"action": "relabel", "event": "halvmar-flood"}]},
    )

    action: Literal["accept", "relabel", "unknown", "new-event", "undo"]
    event: MaybeName = None


class CandidateDecision(BaseModel):
    """Accept a candidate as an event, dismiss it, merge it into an event or another candidate."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"action": "accept", "event": "harbour-fire"}]},
    )

    action: Literal["accept", "dismiss", "merge", "undo"]
    event: MaybeName = Field(None, description="Accept: the name of the event. Merge: into it.")
    candidate: MaybeName = Field(None, description="Merge: into this candidate.")
