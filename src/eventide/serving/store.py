"""The store: one engine over SQLite (by default) or PostgreSQL, and its tables.

What is committed is on the disk: SQLite runs with a write-ahead log and ``synchronous=FULL``,
PostgreSQL as it is set up. Writers of one process take turns; readers never wait for them.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Double,
    Engine,
    LargeBinary,
    MetaData,
    Table,
    Text,
    create_engine,
    event,
    func,
    select,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.pool import QueuePool

from eventide.errors import EventideError, InputError, MissingDependency
from eventide.serving.migrations import SERIAL, migrate
from eventide.storage import expanded

WAIT_SECONDS = 15
"""How long a writer waits for another process that writes to the same store."""
RETRY_SECONDS = 0.02

METADATA = MetaData()
_INTEGERS = ("seq", "version", "seen", "made")
_BINARY = ("vector", "frequency")
_FIGURES = (
    "probability",
    "belief",
    "doubt",
    "vacuity",
    "dissonance",
    "conflict",
    "novelty",
    "next_belief",
    "priority",
)


def _table(name: str, *columns: str) -> Table:
    def kind(column: str) -> Any:
        if column in _INTEGERS or column.endswith("_at"):
            return BigInteger
        if column in _BINARY:
            return LargeBinary
        return Double if column in _FIGURES else Text

    return Table(name, METADATA, *(Column(column, kind(column)) for column in columns))


MESSAGES = _table(
    "messages",
    *("seq", "id", "text", "created_at", "author", "elements", "digest", "received_at", "model"),
    *("event", "probability", "belief", "doubt", "vacuity", "dissonance", "conflict", "novelty"),
    *("verdict", "next_event", "next_belief", "views", "priority", "assigned", "review_action"),
    *("review_event", "reviewed_at", "learned_by", "reason"),
)
REVIEWS = _table(
    "reviews",
    *("seq", "message_id", "action", "event", "reviewer", "reviewed_at", "undone_at", "candidate"),
)
TOKENS = _table("tokens", "name", "digest", "roles", "created_at", "revoked_at")
CANDIDATES = _table("candidates", "id", "state", "facts", "decided_at")
CANDIDATE_MEMBERS = _table("candidate_members", "message_id", "candidate", "vector")
GROUPING_STATE = _table("grouping_state", "version", "seen", "made", "frequency")
UNGROUPED = _table("ungrouped", "message_id")
LEARNINGS = _table("learnings", "seq", "model", "before_model", "kept", "report", "learned_at")


def insert_new(connection: Connection, table: Table, rows: Sequence[dict[str, Any]]) -> None:
    """Insert rows; one whose key is taken stays as it was."""
    if rows:
        dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
        connection.execute(dialect.insert(table).on_conflict_do_nothing(), list(rows))


class StoreUnavailable(EventideError):
    """The database cannot be reached, is full or is locked by somebody else."""


def now_ms() -> int:
    """Return the time as the store keeps it: milliseconds since 1970."""
    return time.time_ns() // 1_000_000


class Store:
    """A database that holds messages, opinions, reviews and tokens.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = Store(f"{folder}/desk.sqlite")
    ...     store.count()
    ...     store.close()
    0
    """

    def __init__(self, where: str | Path) -> None:
        self.where, self.engine = _engine(where)
        self.writer = RLock()
        try:
            with self.writing() as connection:
                self.version = migrate(connection)
        except BaseException:
            self.close()
            raise

    @property
    def is_sqlite(self) -> bool:
        """Whether this is SQLite, where one writer at a time is the rule."""
        return self.engine.dialect.name == "sqlite"

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Give a connection that only reads."""
        with _told(self.where), self.engine.connect() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Give a connection whose work is on the disk once the block has ended, or not at all."""
        with _told(self.where), self.writer, self.engine.connect() as plain:
            connection = plain.execution_options(writing=True)
            with connection.begin():
                if not self.is_sqlite and not getattr(self, "version", 0):
                    # Two services may start on an empty database at once.
                    connection.exec_driver_sql("SELECT pg_advisory_xact_lock(68237001)")
                yield connection

    def count(self) -> int:
        """Count the messages."""
        with self.reading() as connection:
            return int(connection.execute(select(func.count()).select_from(MESSAGES)).scalar_one())

    def last_seq(self) -> int:
        """Return the number of the newest message, 0 where there is none."""
        with self.reading() as connection:
            return int(connection.execute(select(func.max(MESSAGES.c.seq))).scalar() or 0)

    def close(self) -> None:
        """Give all connections back."""
        self.engine.dispose()


def _engine(where: str | Path) -> tuple[str, Engine]:
    """Make an engine for a path (SQLite) or a URL, and say where it is without its password."""
    if "://" not in str(where):
        path = expanded(where)
        if path.is_dir():
            raise InputError(
                "the store is a folder",
                where=str(path),
                next_step="name a file: --store desk.sqlite",
            )
        if not path.parent.is_dir():
            raise InputError(
                "the folder of the store does not exist",
                where=str(path.parent),
                next_step="make it first",
            )
        engine = create_engine(
            f"sqlite:///{path}",
            poolclass=QueuePool,
            pool_size=8,
            max_overflow=40,
            connect_args={"timeout": WAIT_SECONDS, "check_same_thread": False},
        )
        event.listen(engine, "connect", _set_up_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        return str(path), engine
    try:
        url = make_url(str(where))
        if url.drivername == "postgresql":
            url = url.set(drivername="postgresql+psycopg")
        if url.get_backend_name() not in SERIAL:
            raise ArgumentError(f"no store of the kind {url.get_backend_name()!r}")
        engine = create_engine(
            url,
            pool_size=8,
            max_overflow=40,
            pool_pre_ping=True,
            connect_args={"connect_timeout": url.query.get("connect_timeout", WAIT_SECONDS)},
        )
        event.listen(engine, "connect", _set_up_postgresql)
    except (ArgumentError, NoSuchModuleError) as error:
        raise InputError(
            f"this is not a store: {str(error).splitlines()[0]}",
            next_step="give a file or postgresql://user:password@host/database",
        ) from None
    except ModuleNotFoundError as error:
        raise MissingDependency(
            f"PostgreSQL needs the package {error.name}",
            next_step="pip install 'eventide[postgres]'",
        ) from None
    return url.render_as_string(hide_password=True), engine


def _set_up_sqlite(connection: Any, _record: object) -> None:
    connection.isolation_level = None  # SQLAlchemy's "begin" below says BEGIN, not the driver
    _write_ahead(connection)
    for pragma in ("synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}").close()


def _write_ahead(connection: Any) -> None:
    """Let readers read while one writes.

    Where several open a new file at once, SQLite tells all but one that it is locked, without
    waiting as it does elsewhere.
    """
    last = time.monotonic() + WAIT_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL").close()
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > last:
                raise
            time.sleep(RETRY_SECONDS)
        else:
            return


def _set_up_postgresql(connection: Any, _record: object) -> None:
    # A service that is stopped in the middle of a change would stop all others.
    connection.execute(f"SET lock_timeout = '{WAIT_SECONDS}s'").close()
    connection.commit()


def _begin_sqlite(connection: Connection) -> None:
    writing = connection.get_execution_options().get("writing")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")


@contextmanager
def _told(where: str) -> Iterator[None]:
    """Turn what a database says into an error for people."""
    try:
        yield
    except DBAPIError as error:
        reason = str(error.orig).strip().splitlines()
        raise StoreUnavailable(
            f"the store cannot be used: {reason[0] if reason else type(error.orig).__name__}",
            where=where,
            next_step="check that it runs, has room, may be written to, and is what --store names",
        ) from error
    except SQLAlchemyError as error:
        raise StoreUnavailable(
            f"the store cannot be used: {str(error).splitlines()[0]}",
            where=where,
            next_step="check that the database runs and that --store names it",
        ) from error
