"""Jobs in worker processes, one thread each, or in this process where one worker is enough."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from importlib import import_module
from multiprocessing import active_children, get_context, parent_process
from multiprocessing.process import BaseProcess
from typing import TypeAlias, TypeVar

from eventide.errors import EventideError
from eventide.experiments.jobs import Job
from eventide.experiments.prepared import SplitMessages
from eventide.experiments.run import run
from eventide.experiments.run_log import RunRecord
from eventide.features.encoders import ENCODERS
from eventide.methods import METHODS
from eventide.registry import Entry, Registry
from eventide.runtime.own_process import EVERY_POOL, environment, make_own

Registered: TypeAlias = Mapping[str, Sequence[Entry]]
REGISTRIES: Mapping[str, Registry] = {"methods": METHODS, "encoders": ENCODERS}


def registered_here() -> Registered:
    """Return all entries of the registries that a run may read."""
    return {name: list(registry) for name, registry in REGISTRIES.items()}


def register(entries: Registered) -> None:
    """Add the entries that this process lacks."""
    for name, given in entries.items():
        registry = REGISTRIES[name]
        for entry in given:
            if entry.name not in registry:
                # A module may register what it defines when it is imported. What cannot be
                # imported fails in its own runs, with a message.
                with suppress(Exception):
                    import_module(entry.target.partition(":")[0])
            if entry.name not in registry:
                registry.add(entry.name, entry.target, entry.summary, entry.group)


JobRunner: TypeAlias = Callable[[Sequence[Job], SplitMessages, int], Generator[RunRecord]]
"""What does jobs with so many workers at a time: `run_jobs`, or the same on a cluster."""

Result = TypeVar("Result")
PATIENCE = 30.0
"""Seconds without a result after which a pool is asked whether its workers live."""

SECONDS_TO_END = 10.0
"""How long a worker may take to end once it was told to; then it is killed."""

_messages: SplitMessages
"""A worker's own copy of the messages, set when the worker begins."""


def run_jobs(jobs: Sequence[Job], messages: SplitMessages, workers: int) -> Generator[RunRecord]:
    """Yield each job's run as it ends. When the caller stops, unfinished jobs are dropped."""
    workers = min(workers, len(jobs))
    if workers <= 1:
        for job in jobs:
            yield run(job, messages)
        return
    others = set(active_children())
    with single_threads():
        given = (messages, registered_here())
        pool = ProcessPoolExecutor(workers, get_context("spawn"), _begin, given)
        try:
            busy = {pool.submit(_do, job) for job in jobs}
            started = set(active_children()) - others
            while busy:
                ended = some_ended(busy, started)
                busy -= ended
                for each in ended:
                    yield each.result()
        except BrokenProcessPool:
            raise _ended_early() from None
        finally:
            end_workers(set(active_children()) - others)
            pool.shutdown(cancel_futures=True)


def some_ended(
    busy: Collection[Future[Result]], workers: Collection[BaseProcess]
) -> set[Future[Result]]:
    """Wait until some of these are done.

    Python's pool may miss the death of a worker that comes while work is handed in; whoever waits
    would wait for ever.
    """
    while not (ended := wait(busy, PATIENCE, FIRST_COMPLETED).done):
        if not all(each.is_alive() for each in workers):
            # It may have been noticed in this very moment.
            if ended := wait(busy, PATIENCE, FIRST_COMPLETED).done:
                break
            raise BrokenProcessPool("a worker died, and the pool did not notice")
    return ended


def end_workers(workers: Collection[BaseProcess]) -> None:
    """End worker processes, whatever they are doing."""
    for each in workers:
        each.terminate()
    for each in workers:
        each.join(SECONDS_TO_END)
        if each.is_alive():
            each.kill()


def _ended_early() -> EventideError:
    return EventideError(
        "a worker process ended before its run did, perhaps for lack of memory",
        next_step="run the same command again: finished runs are kept; fewer --workers need less "
        "memory",
    )


def _begin(messages: SplitMessages, registered: Registered) -> None:
    """Set a worker up with its own copy of the messages."""
    global _messages
    _messages = messages
    register(registered)
    serve_parent()


def serve_parent() -> None:
    """Set this worker process up: one thread, deaf to Ctrl-C, gone when the parent is gone."""
    import torch

    make_own()
    torch.set_num_threads(1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends its workers
    threading.Thread(target=_follow_parent, daemon=True).start()


def _follow_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _do(job: Job) -> RunRecord:
    return run(job, _messages)


@contextmanager
def single_threads(more: Mapping[str, str] | None = None) -> Iterator[None]:
    """Let processes that start now use one thread, without a lasting change here.

    ``more`` are variables for them that the user has not set.
    """
    wanted = environment() | dict.fromkeys(EVERY_POOL, "1")
    wanted |= {name: value for name, value in (more or {}).items() if name not in os.environ}
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
