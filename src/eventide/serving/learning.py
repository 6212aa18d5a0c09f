"""Reviews become a model: learn from them, say what changed, and bring the old model back."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
from sqlalchemy import insert, select, update

from eventide.data.schema import canonical
from eventide.errors import InputError
from eventide.features.time_buckets import bucket_starts
from eventide.model import EventClassifier, load_model
from eventide.model.artefact import save_model
from eventide.model.forget import forget
from eventide.novelty.candidates import DISMISSED
from eventide.outputs import reserved
from eventide.serving.live_model import LoadedModel, model_version
from eventide.serving.store import (
    CANDIDATE_MEMBERS,
    CANDIDATES,
    LEARNINGS,
    MESSAGES,
    Store,
    now_ms,
)
from eventide.serving.stored_messages import every_message, iso
from eventide.storage import expanded

M = MESSAGES.c
KEPT = ".kept"
"""Ending of the folder beside a model that keeps the models before it."""

Tell = Callable[[str], None]


def learn_from_reviews(
    path: str | Path,
    store: Store,
    *,
    training: Any = None,
    epochs: int | None = None,
    allow_download: bool = False,
    salt_file: Path | None = None,
    tell: Tell = lambda _: None,
) -> dict[str, Any]:
    """Make a model that has learned the reviewed labels, put it in place, and say what changed.

    The model before is kept beside it. ``training`` are the messages it was trained on; without
    them the ones it remembers in clear (``--keep-text``) are used.
    """
    path = expanded(path)
    reviewed = [row for row in every_message(store, reviewed=True) if row["review_event"]]
    fresh = [row for row in reviewed if row["learned_by"] is None]
    off_topic = [row for row in dismissed_messages(store) if row["learned_by"] is None]
    if not fresh:
        raise InputError(
            "nobody has given a label that the model does not know",
            where=store.where,
            next_step="review messages first (accept, relabel, new event)",
        )
    with reserved(path):
        load = partial(load_model, path, allow_download=allow_download, salt_file=salt_file)
        before, version = load(), model_version(path)
        tell(f"learning from {len(fresh):,} new labels, {len(reviewed):,} in all")
        after = _learned(load, reviewed, off_topic, training, epochs, tell)
        report = _changes(before, after, reviewed, store)
        kept = path.with_name(path.name + KEPT) / version
        kept.parent.mkdir(exist_ok=True)
        save_model(before, kept, keep_text=before.remembered_ is not None)
        save_model(after, path, keep_text=before.remembered_ is not None)
    now = model_version(path)
    report |= {"model": now, "before": version, "kept": str(kept), "labels": len(fresh)}
    with store.writing() as connection:
        connection.execute(
            insert(LEARNINGS).values(
                model=now,
                before_model=version,
                kept=str(kept),
                report=json.dumps(report),
                learned_at=now_ms(),
            )
        )
        for row in (*fresh, *off_topic):
            connection.execute(update(MESSAGES).where(M.id == row["id"]).values(learned_by=now))
    return report


def bring_back(
    path: str | Path, store: Store, *, allow_download: bool = False, salt_file: Path | None = None
) -> dict[str, Any]:
    """Put the model before the latest learning back in place."""
    path = expanded(path)
    with reserved(path):
        now = model_version(path)
        latest = next((each for each in learnings(store) if each["model"] == now), None)
        if latest is None or not Path(latest["kept"]).is_dir():
            raise InputError(
                "no model from before is kept",
                where=str(path.with_name(path.name + KEPT)),
                next_step="only a model that learned from reviews has one",
            )
        kept = load_model(latest["kept"], allow_download=allow_download, salt_file=salt_file)
        save_model(kept, path, keep_text=kept.remembered_ is not None)
    with store.writing() as connection:
        unlearned = update(MESSAGES).where(M.learned_by == now)
        connection.execute(unlearned.values(learned_by=None))
    return {"model": model_version(path), "before": now}


def forget_user_in_models(
    path: str | Path,
    store: Store,
    name: str,
    *,
    allow_download: bool = False,
    salt_file: Path | None = None,
) -> int:
    """Forget a user in a model and in those kept beside it; return how many messages went.

    The model is another one then; what it learned from reviews is still known as its.
    """
    path, gone = expanded(path), 0
    before = model_version(path)
    for each in (path, *sorted(path.with_name(path.name + KEPT).glob("*/"))):
        try:
            went = forget(each, users=[name], allow_download=allow_download, salt_file=salt_file)
        except InputError as error:
            if "no such message" not in error.what:
                raise
            went = 0
        gone = went if each == path else gone
    now = model_version(path)
    if now != before:
        with store.writing() as connection:
            same = LEARNINGS.c.model == before
            connection.execute(update(LEARNINGS).where(same).values(model=now))
            learned = M.learned_by == before
            connection.execute(update(MESSAGES).where(learned).values(learned_by=now))
    return gone


def dismissed_messages(store: Store) -> list[dict[str, Any]]:
    """Return the messages of dismissed candidates; what was said of one alone stands."""
    gone = select(CANDIDATES.c.id).where(CANDIDATES.c.state == DISMISSED)
    members = select(CANDIDATE_MEMBERS.c.message_id).where(CANDIDATE_MEMBERS.c.candidate.in_(gone))
    query = select(MESSAGES).where(M.id.in_(members), M.review_action == "unknown")
    with store.reading() as connection:
        return [dict(row) for row in connection.execute(query.order_by(M.seq)).mappings()]


def learnings(store: Store) -> list[dict[str, Any]]:
    """Return what was learned and when, the latest first."""
    with store.reading() as connection:
        rows = connection.execute(select(LEARNINGS).order_by(LEARNINGS.c.seq.desc()).limit(20))
        return [
            {
                "model": row.model,
                "before": row.before_model,
                "kept": row.kept,
                "report": json.loads(row.report),
                "at": iso(row.learned_at),
            }
            for row in rows
        ]


def _learned(
    load: Callable[[], EventClassifier],
    reviewed: list[dict[str, Any]],
    off_topic: list[dict[str, Any]],
    training: Any,
    epochs: int | None,
    tell: Tell,
) -> EventClassifier:
    """The one place where a model learns: by an update, or by training again on all labels.

    An update needs neither old texts nor many steps. Training again is for methods that cannot be
    updated, and for whoever gives messages or epochs.
    """
    model = load()
    new = canonical(_labelled(reviewed))
    update_model = getattr(model, "update", None)
    if update_model is not None and training is None and epochs is None:
        try:
            measured = off_topic and model.novelty_ is not None
            update_model(new, off_topic=canonical(_labelled(off_topic)) if measured else None)
        except InputError as error:
            tell(f"no update: {error.what}")
        else:
            return model
    old = _training_messages(model, training)
    new = new.select(old.columns)
    both = pl.concat([old.filter(~pl.col("id").is_in(new["id"].implode())), new])
    tell(f"training again on {len(old):,} messages and {len(new):,} reviewed ones")
    changes = {} if epochs is None else {"training__epochs": epochs}
    return EventClassifier(**model.get_params() | changes).fit(both)


def _training_messages(before: EventClassifier, training: Any) -> pl.DataFrame:
    if training is not None:
        return canonical(before.intake(training, allow_rejected=True, fitting=True).messages)
    if before.remembered_ is None:
        raise InputError(
            "the model remembers no texts, so that it cannot be trained again without its messages",
            next_step="give the messages it was trained on: --training FILE (or train with "
            "--keep-text)",
        )
    graph = before.settings_.graph
    names = [*before.class_names.tolist(), None]
    starts = bucket_starts(before.memory_.times, graph.time_unit, graph.bucket_width)
    when = pl.Series("created_at", starts).cast(pl.Datetime("ms", "UTC"))
    events = pl.Series("event", [names[label] for label in before.labels_], dtype=pl.String)
    return canonical(before.remembered_.with_columns(when, events))


def _labelled(rows: list[dict[str, Any]]) -> pl.DataFrame:
    records = [
        {
            "id": row["id"],
            "text": row["text"],
            "created_at": row["created_at"] or row["received_at"],
            "event": row["review_event"],
            "user": row["author"],
            **json.loads(row["elements"]),
        }
        for row in rows
    ]
    return pl.from_dicts(records, infer_schema_length=None).with_columns(
        pl.col("created_at").cast(pl.Datetime("ms", "UTC"))
    )


def _changes(
    before: EventClassifier,
    after: EventClassifier,
    reviewed: list[dict[str, Any]],
    store: Store,
) -> dict[str, Any]:
    """Compare two models: their events, the reviewed messages, and the rest of the stream."""
    old, new = LoadedModel(before, ""), LoadedModel(after, "")
    open_rows = list(every_message(store, reviewed=False))[-500:]
    rows = reviewed + open_rows
    was = [each["event"] for each in old.opinions(rows)]
    now = [each["event"] for each in new.opinions(rows)]
    truth = [row["review_event"] for row in reviewed]
    moved = Counter(
        (a, b) for a, b in zip(was[len(reviewed) :], now[len(reviewed) :], strict=True) if a != b
    )
    return {
        "new_events": sorted(set(after.class_names.tolist()) - set(before.class_names.tolist())),
        "reviewed": len(reviewed),
        "right_before": sum(a == b for a, b in zip(was, truth, strict=False)),
        "right_after": sum(a == b for a, b in zip(now, truth, strict=False)),
        "others": len(open_rows),
        "others_changed": sum(moved.values()),
        "moved": [
            {"from": a, "to": b, "messages": count} for (a, b), count in moved.most_common(10)
        ],
    }
