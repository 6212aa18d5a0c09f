"""Routes of the model: what it is, how far to trust it, drift, the map, reload and learning."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse

import eventide
from eventide.serving.access import Reader, Reviewer, TheDesk
from eventide.serving.drift import drift
from eventide.serving.examples import ANSWERS
from eventide.serving.learning import bring_back, learnings
from eventide.serving.reviews import review_counts
from eventide.serving.stored_messages import MessageFilter, newest_first

routes = APIRouter(prefix="/v1", tags=["model"], responses=ANSWERS)


@routes.get("/model")
def model(desk: TheDesk, _who: Reader) -> JSONResponse:
    """Return what the model is, what it knows, and what it learned from reviews."""
    loaded = desk.live.now
    classifier = loaded.classifier
    return JSONResponse(
        {
            "version": loaded.version,
            "eventide": eventide.__version__,
            "method": classifier.method,
            "encoder": str(classifier.encoder),
            "events": loaded.class_counts,
            "remembered": len(classifier.memory_),
            "keeps_text": classifier.remembered_ is not None,
            "stored": desk.store.count(),
            "reviews": review_counts(desk.store),
            "held_out": desk.settings.held_out is not None,
            "job": desk.job.state,
            "learnings": learnings(desk.store),
        }
    )


@routes.post("/model/reload")
def reload(desk: TheDesk, _who: Reviewer) -> JSONResponse:
    """Read the model's folder again; no request is dropped, and none waits."""
    return JSONResponse({"version": desk.reload().version})


@routes.post("/model/learn", status_code=202)
def learn(desk: TheDesk, _who: Reviewer) -> JSONResponse:
    """Begin to learn from the reviews, in a process of its own; GET /v1/model says how it goes."""
    return JSONResponse(desk.job.start(), 202)


@routes.post("/model/restore")
def restore(desk: TheDesk, _who: Reviewer) -> JSONResponse:
    """Bring the model before the latest learning back."""
    live = desk.live
    told = bring_back(
        live.path, desk.store, allow_download=live.allow_download, salt_file=live.salt_file
    )
    desk.reload()
    return JSONResponse(told | {"rescored": desk.rescore()})


@routes.get("/drift")
def show_drift(desk: TheDesk, _who: Reader) -> JSONResponse:
    """Compare the newest messages with training: shares of events, and doubt."""
    loaded, reference = desk.live.now, desk.reference_doubt()
    made = desk.kept(
        "drift", (loaded.version, desk.moment), lambda: drift(desk.store, loaded, reference)
    )
    return JSONResponse(made)


@routes.get("/trust")
def show_trust(
    desk: TheDesk,
    _who: Reader,
    source: Literal["held-out", "validation", "reviewed"] | None = None,
) -> JSONResponse:
    """Return risk against coverage, reliability, and doubt against error by event."""
    sources = desk.trust_sources()
    return JSONResponse(desk.trust(source or sources[0]) | {"sources": sources})


@routes.get("/map")
def show_map(
    desk: TheDesk, _who: Reader, limit: Annotated[int, Query(ge=1, le=1000)] = 300
) -> JSONResponse:
    """Place the memory, the prototypes and the newest messages on a plane."""

    def make() -> dict[str, Any]:
        plane = desk.map()
        rows = newest_first(desk.store, MessageFilter(), None, limit).rows
        points = plane.points(rows) if rows else []
        return {
            "memory": plane.memory,
            "prototypes": plane.prototypes,
            "messages": [
                {
                    "x": x,
                    "y": y,
                    "id": row["id"],
                    "text": row["text"][:280],
                    "event": row["assigned"],
                    "doubt": row["doubt"],
                }
                for row, (x, y) in zip(rows, points, strict=True)
            ],
        }

    return JSONResponse(desk.kept("points", (desk.live.now.version, desk.moment, limit), make))
