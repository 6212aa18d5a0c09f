"""Who may ask what: the dependencies by which a route names the right it needs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import Depends, HTTPException, Request

from eventide.serving.access_tokens import ANYONE, Holder
from eventide.serving.desk import Desk


def desk_of(request: Request) -> Desk:
    """Return the service that a request came to."""
    desk: Desk = request.app.state.desk
    return desk


async def _desk(request: Request) -> Desk:  # async: no thread is needed for so little
    return desk_of(request)


def holder_of(request: Request) -> Holder:
    """Return whose token a request carries, or refuse it."""
    desk = desk_of(request)
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer" and token.strip():
        holder = desk.tokens.holder(token.strip())
        if holder is not None:
            return holder
    elif not desk.need_token:
        return ANYONE
    raise HTTPException(
        401, "a valid token is needed", headers={"WWW-Authenticate": 'Bearer realm="eventide"'}
    )


def allowed(right: str) -> Callable[[Request], Awaitable[Holder]]:
    """Make a dependency that asks for a right."""

    async def check(request: Request) -> Holder:
        holder = holder_of(request)
        if right not in holder.allows:
            raise HTTPException(403, f"this token does not allow to {right}")
        return holder

    return check


TheDesk = Annotated[Desk, Depends(_desk)]
Reader = Annotated[Holder, Depends(allowed("read"))]
Sender = Annotated[Holder, Depends(allowed("ingest"))]
Reviewer = Annotated[Holder, Depends(allowed("review"))]
