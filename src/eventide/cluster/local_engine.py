"""Partitions in worker processes of this machine, or in this process where one is enough."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import active_children, get_context
from multiprocessing.process import BaseProcess

from eventide.cluster.assigner import Assigner, AssignmentRequest, PartFacts
from eventide.cluster.partitions import Partition, ReadPartition
from eventide.errors import EventideError
from eventide.experiments.workers import (
    Registered,
    end_workers,
    register,
    registered_here,
    serve_parent,
    some_ended,
)
from eventide.experiments.workers import single_threads as environment
from eventide.model import EventClassifier

Work = Partition | ReadPartition
AHEAD = 2
"""Partitions read ahead for each worker: so much waits in memory."""

ATTEMPTS = 3
"""Times that workers may die on a partition before it is given up."""

_assigner: Assigner
"""A worker's own model, set when the worker begins."""


def assign_locally(
    partitions: Iterator[Work],
    request: AssignmentRequest,
    workers: int,
    model: EventClassifier | None = None,
) -> Generator[PartFacts]:
    """Yield the facts of each part as it is finished; at most a few partitions are in memory.

    A worker that dies is replaced, and what was under way is done again. ``model`` is used where
    one worker is asked for: the work is then done here.
    """
    if workers <= 1:
        yield from map(Assigner(request, model), partitions)
        return
    died: dict[str, int] = {}
    again: list[Work] = []
    while True:
        pool = _Pool(request, workers)
        try:
            yield from pool.run(partitions, again)
            return
        except BrokenProcessPool:
            again = pool.unfinished()
        finally:
            pool.close()
        for each in again:
            died[each.name] = died.get(each.name, 0) + 1
            if died[each.name] >= ATTEMPTS:
                raise EventideError(
                    f"worker processes died {ATTEMPTS} times while they did the same partitions, "
                    "perhaps for lack of memory",
                    where=f"partition {each.name}",
                    next_step="write to a folder, with fewer workers than now: --out opinions "
                    "--workers 1; finished parts of a folder are kept",
                )


class _Pool:
    """Worker processes, and the partitions they are busy with."""

    def __init__(self, request: AssignmentRequest, workers: int) -> None:
        self._others = set(active_children())
        self._workers = workers
        self._room = AHEAD * workers
        self._busy: dict[Future[PartFacts], Work] = {}
        self._waiting: list[Work] = []
        given = request, registered_here()
        self._pool = ProcessPoolExecutor(workers, get_context("spawn"), _begin, given)

    def run(self, partitions: Iterator[Work], again: list[Work]) -> Generator[PartFacts]:
        """Do what is to be done ``again``, then the rest."""
        self._waiting = list(again)
        with environment():
            for _ in range(self._workers):  # they start while the first partitions are read
                self._pool.submit(_ready)
            started = self._own()
            while True:
                while len(self._busy) < self._room and (each := self._next(partitions)):
                    self._busy[self._pool.submit(_do, each)] = each
                    self._waiting = [one for one in self._waiting if one is not each]
                if not self._busy:
                    return
                for ended in some_ended(self._busy, started):
                    facts = ended.result()  # a broken pool is told here; the partition stays busy
                    del self._busy[ended]
                    yield facts

    def _next(self, partitions: Iterator[Work]) -> Work | None:
        if self._waiting:
            return self._waiting[0]
        found = next(partitions, None)
        if found is not None:
            self._waiting.append(found)  # until it is submitted: a broken pool must not lose it
        return found

    def unfinished(self) -> list[Work]:
        """List what was under way when a worker died."""
        return [*self._busy.values(), *self._waiting]

    def close(self) -> None:
        """End the workers, whatever they are doing."""
        end_workers(self._own())
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _own(self) -> set[BaseProcess]:
        return set(active_children()) - self._others


def _begin(request: AssignmentRequest, registered: Registered) -> None:
    global _assigner
    register(registered)
    serve_parent()
    _assigner = Assigner(request)


def _ready() -> None:
    """Do nothing: the worker that is asked to has begun."""


def _do(partition: Work) -> PartFacts:
    return _assigner(partition)
