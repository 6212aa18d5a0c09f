"""Runs of a comparison as tasks of Ray, over the same run log."""

from __future__ import annotations

import secrets
from collections.abc import Generator, Sequence
from typing import Any

from eventide.cluster.ray_session import RayOptions, ray_session
from eventide.errors import EventideError
from eventide.experiments.jobs import Job
from eventide.experiments.prepared import SplitMessages
from eventide.experiments.run import run
from eventide.experiments.run_log import RunRecord
from eventide.experiments.workers import JobRunner, Registered, register, registered_here

RETRIES = 3
"""Times that a run is begun again when its worker dies."""


_kept: dict[str, SplitMessages] = {}
"""The messages of the latest comparison that this worker of Ray had part in."""


def ray_jobs(options: RayOptions, workers: int | None = None) -> JobRunner:
    """Return what does jobs as tasks of Ray: each run once, by whichever worker is free.

    At most ``workers`` run at a time, by default as many as the cluster has room for.

    The messages are stored once. A run whose worker dies is begun again elsewhere.
    """

    def run_jobs(jobs: Sequence[Job], messages: SplitMessages, _cores: int) -> Generator[RunRecord]:
        if not jobs:
            return
        with ray_session(options, workers) as most:
            import ray

            task = ray.remote(max_retries=RETRIES, **options.resources())(_run)
            shared = secrets.token_hex(8), [ray.put(messages)], registered_here()
            waiting = list(jobs)
            busy: list[Any] = []
            try:
                while waiting or busy:
                    while waiting and len(busy) < most:
                        busy.append(task.remote(waiting.pop(0), *shared))
                    ended, busy = ray.wait(busy, num_returns=1)
                    yield ray.get(ended[0])
            except ray.exceptions.RayError as error:
                told = " ".join(str(error).split())[-300:]
                raise EventideError(
                    f"a run on Ray failed: {told}",
                    next_step="run the same command again: finished runs are kept",
                ) from None
            finally:
                for each in busy:
                    ray.cancel(each, force=True)

    return run_jobs


def _run(job: Job, name: str, stored: list[Any], registered: Registered) -> RunRecord:
    """Do a job; the messages are fetched once, and what a seed's runs share is kept with them."""
    import ray
    import torch

    torch.set_num_threads(1)
    register(registered)
    if name not in _kept:
        _kept.clear()
        _kept[name] = ray.get(stored[0])
    return run(job, _kept[name])
