"""Messages that could not be grouped: found by halving, kept waiting, tried again later.

A step that fails does not say which of its messages is at fault. The next one takes half as many,
until a message fails alone: it is set aside with its reason, and the others go on. It stays in the
table of what waits; with another model, after an hour and after a restart it is tried again.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence

AT_ONCE = 500
"""Messages of one step."""

MOST = 500
"""Messages set aside before no more are tried for a while: it is not the messages, then."""

RETRY_SECONDS = 3_600.0
"""After this time what was set aside is tried again."""

SHORTEST, LONGEST = 1.0, 300.0
"""Seconds without a step after a failure that no message is to blame for; each doubles them."""


class SetAside:
    """What failed in this process, and how many messages the next step may take."""

    def __init__(self) -> None:
        self.at_once = AT_ONCE
        self._reasons: dict[str, str] = {}
        self._model: str | None = None
        self._since = self._paused_until = 0.0
        self._pause = SHORTEST

    def ids(self, model: str) -> list[str]:
        """Return the messages to leave out of a step with this model."""
        now = time.monotonic()
        if model != self._model or now - self._since > RETRY_SECONDS:
            self._model, self._since = model, now
            self._reasons.clear()
            self._paused_until = 0.0
        return list(self._reasons)

    def reasons(self) -> dict[str, int]:
        """Count what is set aside by the kind of error; never what the error says of a text."""
        return dict(Counter(list(self._reasons.values())))

    @property
    def paused(self) -> bool:
        """Whether no step makes sense now."""
        return time.monotonic() < self._paused_until or len(self._reasons) >= MOST

    def failed(self, ids: Sequence[str], error: Exception) -> bool:
        """Take note of a step that failed; return whether another one makes sense now.

        Without any message the candidates themselves are at fault: everything waits for a while.
        """
        if len(ids) > 1:
            self.at_once = len(ids) // 2
        elif ids:
            self._reasons[ids[0]] = type(error).__name__
        else:
            self._paused_until = time.monotonic() + self._pause
            self._pause = min(2 * self._pause, LONGEST)
        return not self.paused

    def went_well(self) -> None:
        """Take note of a step that worked: the next one may take more."""
        self.at_once = min(2 * self.at_once, AT_ONCE)
        self._pause = SHORTEST
