"""How much one client may ask for: size of a body, time to send it, requests a second."""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import dataclass

CLIENTS = 10_000
"""Clients whose rate is remembered; the one that was quiet for longest is forgotten first."""


@dataclass(frozen=True)
class Limits:
    """Limits of the service; ``rate`` is in requests a second and client, None is no limit."""

    body_bytes: int = 8 * 2**20
    body_seconds: float = 20.0
    rate: float | None = 1_000.0
    listeners: int = 200
    connections: int = 2_000


class RateLimit:
    """A bucket of requests for each client, filled at ``rate`` a second and twice that deep.

    >>> limit = RateLimit(1.0)
    >>> [limit.wait("ann", now=5.0) for _ in range(3)]
    [0.0, 0.0, 1.0]
    >>> limit.wait("ann", now=6.5)
    0.0
    """

    def __init__(self, rate: float | None) -> None:
        self.rate = rate
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, client: str, now: float | None = None) -> float:
        """Take one request; return the seconds to wait where there is none left."""
        if self.rate is None:
            return 0.0
        now = time.monotonic() if now is None else now
        depth = max(2 * self.rate, 1.0)
        left, seen = self._left.pop(client, (depth, now))
        left = min(depth, left + (now - seen) * self.rate)
        taken = left >= 1
        self._left[client] = (left - taken, now)
        if len(self._left) > CLIENTS:
            self._left.popitem(last=False)
        return 0.0 if taken else (1 - left) / self.rate
