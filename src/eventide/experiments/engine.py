"""The comparison itself: run what has not run yet, and keep every finished run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from eventide.data.splits import SPLITS, split_name
from eventide.experiments.jobs import (
    RUNS,
    ExperimentPlan,
    Job,
    check_request,
    check_runs_folder,
    jobs,
)
from eventide.experiments.prepared import ExperimentData, SplitMessages, read_experiment_data
from eventide.experiments.regime_results import RegimeResults
from eventide.experiments.regimes import regime as find_regime
from eventide.experiments.regimes import regime_seeds
from eventide.experiments.results import Results
from eventide.experiments.run_log import RunLog, RunRecord
from eventide.experiments.sources import code_name, commit, is_edited
from eventide.experiments.variants import Variant
from eventide.experiments.workers import JobRunner, run_jobs
from eventide.features.encoders import DEFAULT_ENCODER
from eventide.outputs import reserved
from eventide.runtime.cores import usable_cores

SEEDS = 10


@dataclass(frozen=True)
class Step:
    """How far a comparison is; ``run`` is the one that just ended, None at the start.

    ``notes`` say at the start what is kept from before.
    """

    done: int
    total: int
    run: RunRecord | None = None
    notes: tuple[str, ...] = ()


def compare(
    dataset: Any,
    variants: Sequence[Variant],
    seeds: Iterable[int] = range(SEEDS),
    *,
    out: str | Path,
    split: str = "random",
    protocol: str | None = None,
    preset: str = "default",
    encoder: str = DEFAULT_ENCODER,
    entities: str = "rules",
    changes: Mapping[str, Any] | None = None,
    workers: int | None = None,
    watch: Callable[[Step], None] = lambda _: None,
    regime: str = "",
    tuning: bool = False,
    runner: JobRunner = run_jobs,
) -> Results:
    """Run every variant with every seed on ``dataset``, and keep each run in ``out``.

    With a ``regime`` messages are split as it says, and locked messages are tested; with ``tuning``
    locked messages are left out, and others tested in their place.

    ``dataset`` is `ExperimentData` or anything that can be read as messages. A seed sets the split
    and the initialisation for all variants, which predict the same test messages. Runs that
    ``out``/runs.jsonl holds are not run again if they are of the same code (`sources`); failed ones
    are. ``changes`` are settings by dotted name for all variants. With several ``workers`` (all
    cores by default) call it from a module that can be imported, as multiprocessing asks. One
    comparison at a time can write to a folder. ``runner`` does the runs, here or on a cluster.
    """
    chosen = find_regime(regime) if regime else None
    if chosen is not None:
        protocol, encoder = protocol or "inductive", chosen.encoder or encoder
    seeds, split = tuple(dict.fromkeys(seeds)), split_name(split)
    protocol = check_request(
        variants,
        seeds,
        split=split,
        protocol=protocol,
        preset=preset,
        encoder=encoder,
        entities=entities,
        changes=changes,
        workers=workers,
    )
    folder = check_runs_folder(out)
    data = (
        dataset
        if isinstance(dataset, ExperimentData)
        else read_experiment_data(dataset, variants, entities=entities)
    )
    if chosen is not None:
        seeds = regime_seeds(chosen, data.messages, seeds)
    plan = ExperimentPlan(
        dataset=data.name,
        fingerprint=data.fingerprint,
        split=split if chosen is None else "locked",
        protocol=protocol,
        encoder=encoder,
        entities=data.entities,
        preset=preset,
        changes=dict(changes or {}),
        commit=commit(),
        regime=regime,
        lock=data.lock.name if regime else "",
        tuning=tuning,
    )
    wanted = jobs(plan, variants, seeds)
    messages = SplitMessages.of_data(data, plan)
    messages.frame(seeds[0])  # an impossible split fails now

    log = RunLog(folder / RUNS)
    with reserved(log.path):
        kept, damaged = log.read()
        finished = {run.key: run for run in kept if run.outcome is not None}
        failed: dict[str, RunRecord] = {}
        edited = 0
        todo = list({job.key: job for job in wanted if job.key not in finished}.values())
        total = len({job.key for job in wanted})
        notes = _kept_notes(kept, wanted, plan)
        watch(Step(total - len(todo), total, notes=notes))
        with closing(runner(todo, messages, workers or usable_cores())) as ended:
            for done, run in enumerate(ended, start=total - len(todo) + 1):
                # A worker may have loaded code that was edited meanwhile: not kept for another day.
                edited += bool(edited or is_edited())
                log.append(run.model_copy(update={"key": "", "code": ""}) if edited else run)
                (failed if run.outcome is None else finished)[run.key] = run
                watch(Step(done, total, run))
    drawn = SPLITS[split].seeded if chosen is None else chosen.seeded
    same = "" if drawn or len(seeds) < 2 else regime or split
    notes = (*data.notes, *notes, *_notes(same, damaged, edited))
    return _results(log.path, plan, variants, seeds, wanted, finished, failed, notes)


def compare_regimes(
    dataset: Any,
    variants: Sequence[Variant],
    seeds: Iterable[int],
    regimes: Sequence[str],
    *,
    out: str | Path,
    tuning: bool = False,
    watch: Callable[[str, Step], None] = lambda _, __: None,
    entities: str = "rules",
    **options: Any,
) -> RegimeResults:
    """Run every variant with every seed in each of ``regimes``; all keep their runs in ``out``.

    ``watch`` is called with the name of the regime and how far it is; ``options`` are those of
    `compare`.
    """
    seeds = tuple(seeds)
    data = (
        dataset
        if isinstance(dataset, ExperimentData)
        else read_experiment_data(dataset, variants, entities=entities)
    )
    return RegimeResults(
        {
            name: compare(
                data,
                variants,
                seeds,
                out=out,
                regime=name,
                tuning=tuning,
                watch=partial(watch, name),
                entities=entities,
                **options,
            )
            for name in regimes
        }
    )


def _kept_notes(
    kept: Sequence[RunRecord], wanted: Sequence[Job], plan: ExperimentPlan
) -> tuple[str, ...]:
    """Say which runs of the file serve again, and which do not because the code is another."""
    keys = {job.key for job in wanted}
    codes = {job.variant.method: job.code for job in wanted}
    done = [run for run in kept if run.outcome is not None]
    used = {run.key: run for run in done if run.key in keys}
    other = [
        run
        for run in done
        if (run.fingerprint, run.encoder) == (plan.fingerprint, plan.encoder)
        and run.code != codes.get(run.method, run.code)
    ]
    notes = []
    if used:
        made_by = code_name(run.made_by for run in used.values())
        notes.append(f"{len(used)} of {len(keys)} runs kept from before ({made_by})")
    if other:
        made_by = code_name(run.made_by for run in other)
        notes.append(
            f"{len(other)} runs in {RUNS} are not used: the code was another then ({made_by})"
        )
    return tuple(notes)


def _notes(same_split: str, damaged: int, edited: int) -> list[str]:
    notes = []
    if edited:
        notes.append(
            f"the code was edited while the comparison ran: {edited} runs may be of either code, "
            "and the next comparison does them again"
        )
    if damaged:
        notes.append(
            f"{damaged} unreadable lines in {RUNS} were passed over, their runs done again"
        )
    if same_split:
        notes.append(
            f"the split ({same_split}) is the same for every seed: deviations show the "
            "initialisation and the order of batches alone"
        )
    return notes


def _results(
    path: Path,
    plan: ExperimentPlan,
    variants: Sequence[Variant],
    seeds: tuple[int, ...],
    wanted: Sequence[Job],
    finished: Mapping[str, RunRecord],
    failed: Mapping[str, RunRecord],
    notes: Sequence[str],
) -> Results:
    """Sort the runs by variant; the same work under two names counts for both."""
    runs = {
        each.name: tuple(
            finished[job.key]
            for job in wanted
            if job.variant.name == each.name and job.key in finished
        )
        for each in variants
    }
    return Results(path, plan, tuple(variants), seeds, runs, tuple(failed.values()), tuple(notes))
