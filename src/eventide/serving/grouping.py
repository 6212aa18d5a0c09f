"""Messages that were scored are grouped into candidate events, a little later and elsewhere.

The candidates are those of ``eventide discover``. What was sent waits in the table ``ungrouped``; a
step takes some of it, groups it outside of any transaction, and writes what changed. If another
service changed the candidates meanwhile, the step is dropped and taken again from what is there.
A message leaves the table when it is grouped, and never because something failed.
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock

import numpy as np
import polars as pl
from sqlalchemy import Connection, func, select
from sqlalchemy.exc import DataError, IntegrityError

from eventide.model.discovery import perhaps_new, take_in
from eventide.novelty.candidates import MEMBERS
from eventide.novelty.verdicts import NEW
from eventide.serving.candidate_rows import version_now
from eventide.serving.grouped_candidates import (
    MOST,
    GroupedCandidates,
    Row,
    Superseded,
    moment_of,
    read_grouped,
    write_grouped,
)
from eventide.serving.guards import log
from eventide.serving.live_model import LiveModel, LoadedModel
from eventide.serving.set_aside import SetAside
from eventide.serving.store import MESSAGES, UNGROUPED, Store, StoreUnavailable

OPINION = {"verdict": pl.String, "novelty": pl.Float64, "reason": pl.String}


class Grouping:
    """Groups what waits, step by step; any thread may ask for a step."""

    def __init__(self, store: Store, live: LiveModel) -> None:
        self._store, self._live = store, live
        self._lock = Lock()
        self._now: GroupedCandidates | None = None
        self.aside = SetAside()

    def waiting(self) -> int:
        """Count the messages that are not grouped yet."""
        with self._store.reading() as connection:
            query = select(func.count()).select_from(UNGROUPED)
            return int(connection.execute(query).scalar_one())

    def step(self) -> bool:
        """Group some of what waits; return whether candidates changed or more may wait."""
        with self._lock:
            loaded = self._live.now
            without = self.aside.ids(loaded.version)
            if self.aside.paused:
                return False
            rows: list[Row] = []
            try:
                with self._store.reading() as connection:
                    # What waits is read last: whoever forgets a message changes the version first.
                    now, fresh = self._at_hand(connection, loaded)
                    rows = _waiting_rows(connection, without, self.aside.at_once)
                more = self._group(now, fresh, loaded, rows)
            except Superseded:
                return True
            except Exception as error:
                if isinstance(error, StoreUnavailable) and not _about_content(error):
                    raise
                return self._failed(loaded, rows, error)
            self.aside.went_well()
            return more

    def catch_up(self) -> None:
        """Group all that waits, but for what is set aside."""
        while self.step():
            pass

    def _at_hand(
        self, connection: Connection, loaded: LoadedModel
    ) -> tuple[GroupedCandidates, bool]:
        """Return the candidates, and whether they had to be read."""
        now, self._now = self._now, None  # unless all goes well
        version = version_now(connection)
        if now is None or now.encoder != loaded.encoder_mark or now.version != version:
            return read_grouped(connection, loaded), True
        return now, False

    def _group(
        self, now: GroupedCandidates, fresh: bool, loaded: LoadedModel, rows: Sequence[Row]
    ) -> bool:
        changed = False
        if rows or fresh:
            _take(now, loaded, rows)
            changed = now.changed()
        if rows or changed:
            with self._store.writing() as connection:
                write_grouped(connection, now, rows, loaded)
        if len(now.found.messages) <= 1.2 * MOST:
            self._now = now
        return changed or len(rows) == self.aside.at_once

    def _failed(self, loaded: LoadedModel, rows: Sequence[Row], error: Exception) -> bool:
        """Find out what a step failed of; return whether another one makes sense now."""
        if len(rows) == 1:
            try:  # without it
                with self._store.reading() as connection:
                    _take(read_grouped(connection, loaded), loaded, ())
            except StoreUnavailable:
                raise
            except Exception as without:
                rows, error = (), without
        more = self.aside.failed([row["id"] for row in rows], error)
        facts = {
            "messages": len(rows),
            "set_aside": self.aside.reasons(),
            "seq": rows[0]["seq"] if len(rows) == 1 else None,
        }
        log.error("grouping failed", exc_info=error, extra={"facts": facts})
        return more


def _about_content(error: StoreUnavailable) -> bool:
    """Whether a database refused what was to be written, and would refuse it again."""
    return isinstance(error.__cause__, DataError | IntegrityError)


def _waiting_rows(connection: Connection, without: Sequence[str], most: int) -> list[Row]:
    query = (
        select(MESSAGES)
        .join(UNGROUPED, UNGROUPED.c.message_id == MESSAGES.c.id)
        .where(UNGROUPED.c.message_id.not_in(without))
        .order_by(MESSAGES.c.seq)
        .limit(most)
    )
    return [dict(row) for row in connection.execute(query).mappings()]


def _take(now: GroupedCandidates, loaded: LoadedModel, rows: Sequence[Row]) -> None:
    """Let the candidates take in messages; without any they describe themselves anew."""
    timed = [row | {"created_at": moment_of(row)} for row in rows]
    frame = loaded.frame(timed) if rows else pl.DataFrame(schema=MEMBERS)
    waiting = np.array([row["review_action"] is None for row in rows], dtype=bool)
    opinions = pl.DataFrame({name: [row[name] for row in rows] for name in OPINION}, schema=OPINION)
    new = waiting & (opinions["verdict"] == NEW).to_numpy()
    perhaps = waiting & perhaps_new(loaded.classifier, opinions)
    take_in(now.found, loaded.classifier, frame, new, perhaps)
