"""Access tokens: shown once, kept as a hash, each with its roles."""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import insert, select, update

from eventide.errors import InputError, UnreadableSource
from eventide.registry import suggestion
from eventide.serving.store import TOKENS, Store, now_ms
from eventide.serving.stored_messages import iso

ROLES = ("read", "ingest", "review")
"""``read`` sees, ``ingest`` sends messages and sees nothing, ``review`` sees, decides, manages."""

GRANTS = {"read": {"read"}, "ingest": {"ingest"}, "review": {"read", "review"}}
PREFIX = "evt_"
FRESH_SECONDS = 2.0
"""How long a revoked token may still be taken."""


@dataclass(frozen=True)
class Holder:
    """Who a token belongs to, and what it allows."""

    name: str
    allows: frozenset[str]


ANYONE = Holder("local", frozenset(ROLES))
"""Whoever asks a service that needs no token: somebody on this machine."""


def checked_roles(roles: Iterable[str]) -> list[str]:
    """Return roles without repetition, or say which there are."""
    found = list(dict.fromkeys(roles))
    for role in found:
        if role not in ROLES:
            raise InputError(f"no role is called {role!r}", next_step=suggestion(role, ROLES))
    if not found:
        raise InputError("a token needs a role", next_step=f"give --role: {', '.join(ROLES)}")
    return found


def add_token(store: Store, name: str, roles: Iterable[str]) -> str:
    """Make a token and return it: it cannot be shown again."""
    wanted, token = checked_roles(roles), PREFIX + secrets.token_urlsafe(32)
    if not name.strip() or len(name) > 100:
        raise InputError("a token needs a name of 1 to 100 letters", next_step="name its holder")
    with store.writing() as connection:
        if connection.execute(select(TOKENS.c.name).where(TOKENS.c.name == name)).first():
            raise InputError(
                f"there is a token called {name!r} already",
                next_step="choose another name: a revoked one stays taken",
            )
        connection.execute(
            insert(TOKENS).values(
                name=name, digest=hashed(token), roles=",".join(wanted), created_at=now_ms()
            )
        )
    return token


def list_tokens(store: Store) -> list[dict[str, Any]]:
    """Return name, roles and times of every token, the oldest first; never the token."""
    columns = TOKENS.c
    with store.reading() as connection:
        rows = connection.execute(select(TOKENS).order_by(columns.created_at, columns.name))
        return [
            {
                "name": row.name,
                "roles": row.roles.split(","),
                "created_at": iso(row.created_at),
                "revoked_at": iso(row.revoked_at),
            }
            for row in rows
        ]


def revoke_token(store: Store, name: str) -> None:
    """Take a token's rights away for good."""
    with store.writing() as connection:
        active = (TOKENS.c.name == name) & TOKENS.c.revoked_at.is_(None)
        if not connection.execute(
            update(TOKENS).where(active).values(revoked_at=now_ms())
        ).rowcount:
            known = [row.name for row in connection.execute(select(TOKENS.c.name))]
            raise InputError(
                f"no active token is called {name!r}", next_step=suggestion(name, known)
            )


def hashed(token: str) -> str:
    """Hash a token; it is long and random, so that one round is enough."""
    return hashlib.sha256(token.encode()).hexdigest()


def read_token_file(path: Path) -> dict[str, Holder]:
    """Read lines of ``NAME ROLE[,ROLE] TOKEN`` (# begins a comment); return holders by hash."""
    try:
        lines = path.expanduser().read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableSource(
            f"the token file cannot be read: {getattr(error, 'strerror', None) or 'not UTF-8'}",
            where=str(path),
            next_step="give a text file with lines of: NAME ROLE[,ROLE] TOKEN",
        ) from None
    holders = {}
    for number, line in enumerate(lines, start=1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if len(words) != 3 or len(words[2]) < 20:
            raise InputError(
                "this line is not NAME ROLE[,ROLE] TOKEN with a token of at least 20 letters",
                where=f"{path}, line {number}",
                next_step="make a token: openssl rand -hex 24",
            )
        roles = checked_roles(words[1].split(","))
        holders[hashed(words[2])] = Holder(words[0], granted(roles))
    return holders


def granted(roles: Iterable[str]) -> frozenset[str]:
    """Return everything that roles allow.

    >>> sorted(granted(["review"]))
    ['read', 'review']
    """
    return frozenset(right for role in roles for right in GRANTS[role])


class TokenBook:
    """Who holds which token, asked at every request and read from the store now and then."""

    def __init__(self, store: Store, given: dict[str, Holder] | None = None) -> None:
        self._store, self._given = store, given or {}
        self._holders: dict[str, Holder] = {}
        self._read_at = 0.0

    def holders(self) -> dict[str, Holder]:
        """Return all holders of active tokens, by the hash of the token."""
        if time.monotonic() - self._read_at > FRESH_SECONDS or not self._read_at:
            active = select(TOKENS).where(TOKENS.c.revoked_at.is_(None))
            with self._store.reading() as connection:
                stored = {
                    row.digest: Holder(row.name, granted(row.roles.split(",")))
                    for row in connection.execute(active)
                }
            self._holders, self._read_at = self._given | stored, time.monotonic()
        return self._holders

    def holder(self, token: str) -> Holder | None:
        """Return whose token this is."""
        return self.holders().get(hashed(token))
