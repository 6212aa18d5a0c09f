"""The base of every fact: read-only, strict about its fields, and ready to become JSON."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Fact(BaseModel):
    """A read-only record; ``model_dump(mode="json")`` turns it into plain values."""

    model_config = ConfigDict(frozen=True, extra="forbid")
