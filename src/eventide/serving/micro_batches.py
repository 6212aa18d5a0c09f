"""Requests that come in together are answered together, by a thread of their own.

A batch is whatever waits when the worker is free, up to a number of messages; under load the fixed
cost of a prediction and of a commit is shared (a group commit). Whoever asks alone never waits for
company. Where several ask, those who were just answered get a moment to ask again: otherwise they
would fall into small batches, each with the whole fixed cost. A large request is cut, so that it
takes turns with small ones.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Generic, TypeVar

from eventide.errors import EventideError

Item = TypeVar("Item")
Answer = TypeVar("Answer")

MOST = 64
WAITING = 4_096
"""Messages of one batch, and messages that may wait before more are refused."""

PAUSE, LONGEST = 0.012, 0.03
"""Seconds without a new request after which a batch begins, and how long it waits at most."""


class TooBusy(EventideError):
    """More messages wait than can be answered soon."""


class MicroBatches(Generic[Item, Answer]):
    """Gather items of many callers and hand them to ``work`` in a thread.

    ``work`` gets a list of items and returns one answer for each; what it raises, every caller of
    that batch gets.
    """

    def __init__(self, work: Callable[[list[Item]], Sequence[Answer]], *, most: int = MOST) -> None:
        self._work, self._most = work, most
        self._waiting: deque[tuple[list[Item], asyncio.Future[Sequence[Answer]]]] = deque()
        self._count = 0
        self._task: asyncio.Task[None] | None = None
        self._expected = 1
        self._gathered = asyncio.Event()
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="eventide-batches")

    @property
    def waiting(self) -> int:
        """Messages that wait for their answer."""
        return self._count

    async def submit(self, items: Sequence[Item]) -> list[Answer]:
        """Return an answer for each item, in order."""
        if self._count and self._count + len(items) > WAITING:
            raise TooBusy(
                f"{self._count:,} messages wait already", next_step="send them again a little later"
            )
        answers: list[Answer] = []
        for start in range(0, len(items), self._most):
            answers += await self._one(list(items[start : start + self._most]))
        return answers

    async def _one(self, items: list[Item]) -> Sequence[Answer]:
        loop = asyncio.get_running_loop()
        done: asyncio.Future[Sequence[Answer]] = loop.create_future()
        self._waiting.append((items, done))
        self._count += len(items)
        if self._enough():
            self._gathered.set()
        if self._task is None or self._task.done():
            self._task = loop.create_task(self._run())
        return await done

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        while self._waiting:
            batch = [self._waiting.popleft()]
            size = len(batch[0][0])
            while self._waiting and size + len(self._waiting[0][0]) <= self._most:
                batch.append(self._waiting.popleft())
                size += len(batch[-1][0])
            items = [item for own, _ in batch for item in own]
            try:
                answers = await loop.run_in_executor(self._pool, self._work, items)
            except BaseException as error:
                for _, done in batch:
                    if not done.done():
                        done.set_exception(error)
                if not isinstance(error, Exception):
                    raise
                continue
            finally:
                self._count -= size
            at = 0
            for own, done in batch:
                if not done.done():  # a client that has gone no longer waits
                    done.set_result(answers[at : at + len(own)])
                at += len(own)
            await self._company(len(batch) + len(self._waiting))

    def _enough(self) -> bool:
        if len(self._waiting) >= self._expected:
            return True
        return sum(len(items) for items, _ in self._waiting) >= self._most

    async def _company(self, asking: int) -> None:
        """Wait a moment until all who were asking do so again; alone, wait for nobody."""
        self._expected = asking
        loop = asyncio.get_running_loop()
        end, seen = loop.time() + LONGEST, -1
        while asking > 1 and not self._enough() and len(self._waiting) > seen:
            seen = len(self._waiting)
            self._gathered.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(min(PAUSE, max(end - loop.time(), 0))):
                    await self._gathered.wait()
            if loop.time() >= end:
                break
        self._expected = 1

    async def close(self) -> None:
        """Answer whatever waits, then stop."""
        self._expected = 0  # nobody comes any more
        self._gathered.set()
        if self._task is not None and not self._task.done():
            await asyncio.gather(self._task, return_exceptions=True)
        self._pool.shutdown(wait=True)
