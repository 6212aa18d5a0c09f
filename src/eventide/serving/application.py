"""The web application: routes, guards, errors, the page, and what runs while it lives."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from importlib import import_module
from importlib.resources import files
from typing import Any

import anyio.to_thread
from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, StreamingResponse
from starlette.exceptions import HTTPException as StarletteHTTPException

import eventide
from eventide.errors import EventideError, InputError
from eventide.serving import message_routes, model_routes, review_routes
from eventide.serving.access import Reader, TheDesk, holder_of
from eventide.serving.candidate_decisions import NoSuchCandidate
from eventide.serving.desk import Desk
from eventide.serving.guards import Guards, HostRule, log
from eventide.serving.micro_batches import TooBusy
from eventide.serving.reviews import NoSuchMessage
from eventide.serving.store import StoreUnavailable

RETENTION_SECONDS = 3_600.0
GROUPING_SECONDS, GROUPING_SHARE = 1.0, 0.1
"""Between two looks for messages to group, and the share of the time that grouping may take."""

KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
DESCRIPTION = """Which event is a message about, and how sure can you be?

Send messages to `POST /v1/messages`, read them with their opinions, review the doubtful ones, and
let the model learn from that. A token goes into the header `Authorization: Bearer TOKEN`.
"""


def make_application(desk: Desk) -> Guards:
    """Return the whole application, guards outside."""
    app = FastAPI(
        title="Eventide",
        version=eventide.__version__,
        description=DESCRIPTION,
        lifespan=_living,
        docs_url=None,
        redoc_url=None,
    )
    app.state.desk = desk
    for each in (message_routes, review_routes, model_routes):
        app.include_router(each.routes)
    _operations(app)
    _errors(app)
    _page(app)
    settings = desk.settings
    hosts = HostRule(settings.host, settings.allow_hosts)
    return Guards(app, settings.limits, hosts, desk.measures, settings.access_log)


@asynccontextmanager
async def _living(app: FastAPI) -> AsyncIterator[None]:
    desk: Desk = app.state.desk
    anyio.to_thread.current_default_thread_limiter().total_tokens = 24
    desk.broadcast.start()
    desk.measures.model.labels(desk.live.now.version).set(1)
    keepers = [asyncio.create_task(each(desk)) for each in (_keep_retention, _keep_grouping)]
    try:
        yield
    finally:
        for keeper in keepers:
            keeper.cancel()
            with suppress(asyncio.CancelledError):
                await keeper
        await desk.batches.close()
        desk.job.stop()


@contextmanager
def _noted(work: str) -> Iterator[None]:
    """Write a failure to the log: what is kept up is tried again, whatever went wrong."""
    try:
        yield
    except EventideError as error:
        log.warning(f"{work} failed", extra={"facts": {"error": error.what}})
    except Exception:
        log.exception(f"{work} failed")


async def _keep_retention(desk: Desk) -> None:
    while True:
        with _noted("retention"):
            await asyncio.to_thread(desk.forget_old)
        await asyncio.sleep(RETENTION_SECONDS)


async def _keep_grouping(desk: Desk) -> None:
    """Group what came in, for a share of the time: whoever sends messages goes first."""
    # What a first candidate needs is read now: it takes a second that requests would feel later.
    with _noted("grouping"):
        await asyncio.to_thread(import_module, "sklearn.cluster")
    while True:
        started, more = time.perf_counter(), False
        with _noted("grouping"):
            more = await asyncio.to_thread(desk.group)
        pause = min((time.perf_counter() - started) / GROUPING_SHARE, 10 * GROUPING_SECONDS)
        await asyncio.sleep(pause if more else max(pause, GROUPING_SECONDS))


def _operations(app: FastAPI) -> None:
    @app.get("/healthz", tags=["operations"])
    async def healthz() -> dict[str, str]:
        """Say that the process lives."""
        return {"status": "ok"}

    @app.get("/readyz", tags=["operations"])
    def readyz(desk: TheDesk) -> JSONResponse:
        """Say whether messages would be taken: the store answers and the model is there."""
        try:
            desk.store.last_seq()
        except StoreUnavailable:
            return JSONResponse({"status": "the store cannot be reached"}, 503)
        return JSONResponse({"status": "ready", "model": desk.live.now.version})

    @app.get("/metrics", tags=["operations"], response_class=Response)
    def metrics(desk: TheDesk, _who: Reader) -> Response:
        """Return counters for Prometheus."""
        desk.measures.waiting.set(desk.batches.waiting)
        desk.measures.listeners.set(desk.broadcast.listeners)
        desk.measures.set_aside.clear()
        for error, count in desk.grouping.aside.reasons().items():
            desk.measures.set_aside.labels(error).set(count)
        return Response(desk.measures.page(), media_type="text/plain; version=0.0.4")

    @app.get("/v1/me", tags=["operations"])
    async def me(request: Request, desk: TheDesk) -> dict[str, Any]:
        """Say whether a token is needed, and what this one allows."""
        try:
            holder = holder_of(request)
        except HTTPException:
            return {"need_token": True, "name": None, "allows": []}
        return {
            "need_token": desk.need_token,
            "name": holder.name,
            "allows": sorted(holder.allows),
        }

    @app.get("/v1/updates", tags=["operations"], response_class=StreamingResponse)
    async def updates(desk: TheDesk, _who: Reader) -> Response:
        """Tell of new messages, reviews and models as they come (server-sent events)."""
        if desk.broadcast.listeners >= desk.broadcast.most:
            return JSONResponse({"error": "too many pages listen"}, 503, {"Retry-After": "10"})
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        stream = desk.broadcast.listen()
        return StreamingResponse(stream, media_type="text/event-stream", headers=headers)


def _errors(app: FastAPI) -> None:
    def told(status: int, what: str, step: str | None = None, **headers: str) -> JSONResponse:
        content = {"error": what} | ({"next": step} if step else {})
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return JSONResponse(content, status, named)

    async def of_ours(_: Request, error: Exception) -> Response:
        assert isinstance(error, EventideError)
        if isinstance(error, NoSuchMessage | NoSuchCandidate):
            return told(404, error.what, error.next_step)
        if isinstance(error, InputError):
            return told(422, error.what, error.next_step)
        if isinstance(error, TooBusy | StoreUnavailable):
            log.warning("refused", extra={"facts": {"error": error.what}})
            return told(503, error.what, error.next_step, Retry_After="1")
        log.error("failed", extra={"facts": {"error": error.what}})
        return told(500, error.what, error.next_step)

    async def of_requests(_: Request, error: Exception) -> Response:
        """Say where a request is wrong; what was sent is not sent back."""
        assert isinstance(error, RequestValidationError)
        lines = []
        for each in error.errors()[:10]:
            place = ".".join(str(part) for part in each["loc"] if part != "body")
            lines.append(f"{place or 'body'}: {each['msg']}")
        return told(422, "; ".join(lines).encode("ascii", "backslashreplace").decode())

    async def of_http(_: Request, error: Exception) -> Response:
        assert isinstance(error, StarletteHTTPException)
        answer = told(error.status_code, str(error.detail))
        answer.headers.update(error.headers or {})
        return answer

    app.add_exception_handler(EventideError, of_ours)
    app.add_exception_handler(RequestValidationError, of_requests)
    app.add_exception_handler(StarletteHTTPException, of_http)


def _page(app: FastAPI) -> None:
    """Serve the files of the page, and nothing else."""
    found = {}
    for file in files("eventide.serving").joinpath("page").iterdir():
        kind = KINDS.get("." + file.name.rpartition(".")[2])
        if kind is not None:
            content = file.read_bytes()
            found[file.name] = content, kind, f'"{hashlib.sha256(content).hexdigest()[:16]}"'

    def answered(request: Request, name: str) -> Response:
        if name not in found:
            raise HTTPException(404, "no such file")
        content, kind, tag = found[name]
        headers = {"ETag": tag, "Cache-Control": "no-cache"}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(content, media_type=kind, headers=headers)

    @app.get("/", include_in_schema=False)
    async def index(request: Request) -> Response:
        return answered(request, "index.html")

    @app.get("/page/{name}", include_in_schema=False)
    async def file_of_page(request: Request, name: str) -> Response:
        return answered(request, name)
