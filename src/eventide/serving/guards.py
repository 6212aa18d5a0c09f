"""What every request passes before and after its route: host, origin, rate, size, headers, log."""

from __future__ import annotations

import asyncio
import ipaddress
import json
import logging
import secrets
import sys
import time
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any
from urllib.parse import urlsplit

from eventide.serving.access_tokens import hashed
from eventide.serving.limits import Limits, RateLimit
from eventide.serving.measures import Measures

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

LOOPBACK = ("localhost", "127.0.0.1", "::1")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
HEADERS = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
]

log = logging.getLogger("eventide.serving")


class JsonLines(logging.Handler):
    """Log as one JSON object a line on standard error; never a message's text or a token."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write one line."""
        line = {
            "at": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + "Z",
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **getattr(record, "facts", {}),
        }
        if record.exc_info and record.exc_info[0] is not None:
            line["error"] = record.exc_info[0].__name__
            line["trace"] = logging.Formatter().formatException(record.exc_info)[-4000:]
        if sys.stderr is not None:
            sys.stderr.write(json.dumps(line) + "\n")


def is_loopback(host: str) -> bool:
    """Whether a host to bind to can be reached from this machine alone.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def host_name(header: str) -> str:
    """Return the name in a Host header, without the port.

    >>> host_name("[::1]:8765"), host_name("Desk.example:80"), host_name("a b")
    ('::1', 'desk.example', '')
    """
    try:
        return urlsplit(f"//{header}").hostname or "" if " " not in header else ""
    except ValueError:
        return ""


class HostRule:
    """Which names this service answers to; others are refused, or a page could rebind its own."""

    def __init__(self, bound: str, allowed: Iterable[str] = ()) -> None:
        self._names = {*LOOPBACK, bound.strip("[]").lower(), *(name.lower() for name in allowed)}
        self._addresses = bound in ("0.0.0.0", "::", "[::]")

    def allows(self, header: str) -> bool:
        """Whether a Host header names this service."""
        name = host_name(header)
        if name in self._names:
            return True
        try:
            return self._addresses and bool(ipaddress.ip_address(name))
        except ValueError:
            return False


class _Refused(Exception):
    def __init__(self, status: int, what: str, next_step: str | None = None, **more: str) -> None:
        super().__init__(what)
        self.status, self.next_step, self.headers = status, next_step, more


class Guards:
    """Stand before the application: refuse what it must not see, and measure what it does."""

    def __init__(
        self, app: App, limits: Limits, hosts: HostRule, measures: Measures, access_log: bool
    ) -> None:
        self._app, self._limits, self._hosts, self._measures = app, limits, hosts, measures
        self._rate, self._access_log = RateLimit(limits.rate), access_log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        started, status = time.perf_counter(), 500
        answered = False

        async def sending(message: MutableMapping[str, Any]) -> None:
            nonlocal status, answered
            if message["type"] == "http.response.start":
                status, answered = message["status"], True
                message = {**message, "headers": [*message.get("headers", ()), *HEADERS]}
            await send(message)

        try:
            headers = {
                name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]
            }
            self._check(scope, headers)
            taking = receive
            if scope["method"] in ("POST", "PUT", "PATCH", "DELETE"):
                taking = await self._whole_body(headers, receive)
            await self._app(scope, taking, sending)
        except _Refused as refused:
            await _answer(sending, refused)
        except Exception:
            log.exception("request failed", extra={"facts": {"path": _route(scope)}})
            if not answered:
                await _answer(sending, _Refused(500, "the service failed", "look at its log"))
        finally:
            taken = time.perf_counter() - started
            self._measures.request(_route(scope), scope["method"], status, taken)
            if self._access_log:
                facts = {"method": scope["method"], "path": _route(scope), "status": status}
                facts |= {"ms": round(taken * 1000, 1), "request": secrets.token_hex(4)}
                log.info("request", extra={"facts": facts})

    def _check(self, scope: Scope, headers: dict[str, str]) -> None:
        if not self._hosts.allows(headers.get("host", "")):
            raise _Refused(421, "this service is not called so", "--allow-host NAME allows a name")
        origin = headers.get("origin")
        if origin is not None and _authority(origin) != headers["host"].lower():
            raise _Refused(403, "requests from other sites are refused")
        elsewhere = headers.get("sec-fetch-site") in ("cross-site", "same-site")
        link = scope["method"] == "GET" and headers.get("sec-fetch-mode") == "navigate"
        if origin is None and elsewhere and not link:
            raise _Refused(403, "requests from other sites are refused")
        client = scope.get("client")
        token = headers.get("authorization")
        wait = self._rate.wait(hashed(token) if token else client[0] if client else "")
        if wait:
            seconds = str(max(1, round(wait)))
            raise _Refused(
                429, "too many requests", f"wait {seconds} s", **{"retry-after": seconds}
            )

    async def _whole_body(self, headers: dict[str, str], receive: Receive) -> Receive:
        """Take the body in, bounded in size and time; a slow sender holds nobody else up."""
        most = self._limits.body_bytes
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > most:
            raise _Refused(413, f"a body may have {most:,} bytes", "send fewer messages at once")
        body, more, gone = bytearray(), True, False
        try:
            async with asyncio.timeout(self._limits.body_seconds):
                while more:
                    message = await receive()
                    gone = message["type"] == "http.disconnect"
                    body += message.get("body", b"")
                    more = message.get("more_body", False) and not gone
                    if len(body) > most:
                        raise _Refused(413, f"a body may have {most:,} bytes")
        except TimeoutError:
            raise _Refused(408, "the body came too slowly", connection="close") from None
        given = not gone

        async def again() -> MutableMapping[str, Any]:
            nonlocal given
            if given:
                given = False
                return {"type": "http.request", "body": bytes(body), "more_body": False}
            return await receive() if not gone else {"type": "http.disconnect"}

        return again


def _authority(origin: str) -> str:
    try:
        parts = urlsplit(origin)
    except ValueError:
        return ""
    return parts.netloc.lower() if parts.scheme in ("http", "https") else ""


def _route(scope: Scope) -> str:
    """Name the route, never the path itself: that may hold a user's name."""
    route = scope.get("route")
    return str(getattr(route, "path", "other"))


async def _answer(send: Send, refused: _Refused) -> None:
    content = {"error": str(refused), "next": refused.next_step}
    body = json.dumps({key: value for key, value in content.items() if value}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    headers += [(name.encode(), value.encode()) for name, value in refused.headers.items()]
    start = {"type": "http.response.start", "status": refused.status, "headers": headers}
    await send(start)
    await send({"type": "http.response.body", "body": body})
