"""What a comparison over several regimes found: the results of each, side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from eventide.errors import BadSetting, UnreadableSource
from eventide.experiments.choice import OTHER_NAMES, groups
from eventide.experiments.jobs import ExperimentPlan
from eventide.experiments.regimes import REGIMES
from eventide.experiments.results import Results
from eventide.experiments.run_log import RunLog, RunRecord
from eventide.experiments.sources import code_name
from eventide.experiments.variants import Variant
from eventide.registry import suggestion


@dataclass(frozen=True)
class RegimeResults:
    """The results of every regime by its name, in the order that they were asked for."""

    parts: Mapping[str, Results]

    @cached_property
    def variants(self) -> tuple[Variant, ...]:
        """Every variant that ran in some regime, each once."""
        found: dict[str, Variant] = {}
        for results in self.parts.values():
            for each in results.variants:
                found.setdefault(each.name, each)
        return tuple(found.values())

    @property
    def path(self) -> Path:
        """The run log that all regimes share."""
        return next(iter(self.parts.values())).path

    @property
    def failures(self) -> tuple[RunRecord, ...]:
        """The failed runs of all regimes."""
        return tuple(run for results in self.parts.values() for run in results.failures)

    @property
    def notes(self) -> tuple[str, ...]:
        """What all regimes have to say, each sentence once."""
        return tuple(
            dict.fromkeys(note for results in self.parts.values() for note in results.notes)
        )

    @property
    def made_by(self) -> str:
        """Name the code that made the runs."""
        commits = [
            run.made_by
            for results in self.parts.values()
            for runs in results.runs.values()
            for run in runs
        ]
        return code_name(commits)

    @property
    def lock(self) -> str:
        """The name of the lock, the same for all regimes."""
        return next(iter(self.parts.values())).plan.lock

    @property
    def tuning(self) -> bool:
        """Whether locked messages were left out, so that these results may be chosen by."""
        return next(iter(self.parts.values())).plan.tuning


def results_from_log(
    path: Path | str,
    regimes: Sequence[str] | None = None,
    methods: Sequence[str] | None = None,
    *,
    dataset: str | None = None,
    tuning: bool | None = None,
) -> RegimeResults:
    """Rebuild results from the runs of a log, whatever code made them; nothing runs.

    Of the runs of one regime, variant and seed the newest finished one counts. ``regimes`` and
    ``methods`` (variants or groups) choose among those that the log holds, in this order; none
    given means all. ``tuning`` chooses between runs with and without the locked messages where the
    log holds both. The settings that a comparison changed are not in the plans.
    """
    path = Path(path).expanduser()
    if not path.is_file():
        raise UnreadableSource(
            "there is no such run log", where=str(path), next_step="name a runs.jsonl or .jsonl.gz"
        )
    found, damaged = RunLog(path).read()
    # Stable: of two runs of the same second the later line is the newer.
    runs = sorted((run for run in found if run.regime), key=lambda run: run.finished_at)
    if not runs:
        raise BadSetting(
            "the log holds no run of a regime",
            where=str(path),
            next_step="make some: eventide compare DATASET --regimes all",
        )
    runs = _of_dataset(runs, dataset, path)
    runs = _tuning_or_not(runs, tuning, path)
    kept = [run for run in runs if run.fingerprint == runs[-1].fingerprint]
    notes = [f"from the log {path.name}, nothing was run"]
    if len(kept) < len(runs):
        notes.append(f"{len(runs) - len(kept)} runs on other messages of this name are left out")
    if damaged:
        notes.append(f"{damaged} unreadable lines of {path.name} were passed over")
    held = {run.regime: None for run in kept}
    known = [*(name for name in REGIMES if name in held), *(n for n in held if n not in REGIMES)]
    order = _chosen(regimes, known, "regime")
    names = _chosen(_members(methods, kept), [run.variant for run in kept], "method")
    newest = _newest(run for run in kept if run.regime in order and run.variant in names)
    if not newest:
        raise BadSetting(
            "the log holds none of these methods in these regimes",
            where=str(path),
            next_step=f"regimes in it: {', '.join(known)}",
        )
    commits = list(dict.fromkeys(run.made_by for run in newest if run.outcome is not None))
    if len(commits) > 1:
        notes.append(f"the runs are of {len(commits)} versions of the code ({code_name(commits)})")
    parts = {
        each: _part(path, each, [run for run in newest if run.regime == each], names, notes)
        for each in order
    }
    return RegimeResults({name: part for name, part in parts.items() if part is not None})


def _of_dataset(runs: list[RunRecord], dataset: str | None, path: Path) -> list[RunRecord]:
    names = list(dict.fromkeys(run.dataset for run in runs))
    if dataset is None and len(names) > 1:
        raise BadSetting(
            f"the log holds runs on several datasets: {', '.join(names)}",
            where=str(path),
            next_step="say which",
        )
    if dataset is not None and dataset not in names:
        raise BadSetting(
            f"the log holds no run on {dataset!r}",
            where=str(path),
            next_step=suggestion(dataset, names),
        )
    return [run for run in runs if dataset in (None, run.dataset)]


def _tuning_or_not(runs: list[RunRecord], tuning: bool | None, path: Path) -> list[RunRecord]:
    kinds = {run.tuning for run in runs}
    if tuning is None:
        # What was tested on locked messages is the result; what was tuned on is not.
        tuning = kinds == {True}
    if tuning not in kinds:
        held = "without the locked messages (tuning)" if tuning else "tested on locked messages"
        raise BadSetting(
            f"the log holds no run {held}",
            where=str(path),
            next_step="leave --tuning out" if tuning else "add --tuning",
        )
    return [run for run in runs if run.tuning == tuning]


def _members(methods: Sequence[str] | None, runs: Sequence[RunRecord]) -> list[str] | None:
    """Put the variants of a group in its place, those that the log holds."""
    if methods is None:
        return None
    known, held = groups(), {run.variant for run in runs}
    names: list[str] = []
    for word in (OTHER_NAMES.get(each, each) for each in methods):
        own = [each.name for each in known.get(word, ()) if each.name in held]
        names += own or [word]
    return names


def _chosen(asked: Sequence[str] | None, held: Iterable[str], kind: str) -> list[str]:
    """Return the names asked for, or all that are held; each once."""
    known = list(dict.fromkeys(held))
    for name in asked or ():
        if name not in known:
            raise BadSetting(
                f"the log holds no {kind} called {name!r}", next_step=suggestion(name, known)
            )
    return list(dict.fromkeys(asked or known))


def _newest(runs: Iterable[RunRecord]) -> list[RunRecord]:
    """Return one run per regime, variant and seed, in order of time.

    It is the newest, and a failed one only if none finished.
    """
    found: dict[tuple[str, str, int], RunRecord] = {}
    for run in runs:
        place = run.regime, run.variant, run.seed
        if run.outcome is not None or place not in found or found[place].outcome is None:
            found.pop(place, None)
            found[place] = run
    return list(found.values())


def _part(
    path: Path, regime: str, runs: Sequence[RunRecord], names: Sequence[str], notes: Sequence[str]
) -> Results | None:
    """Return the results of one regime; None where no run is left of it."""
    if not runs:
        return None
    last = runs[-1]
    # A variant that only failed here is listed too; one that was not asked to run here is not.
    first = {run.variant: run for run in reversed(runs)}
    variants = tuple(
        Variant(
            name,
            first[name].method,
            views={view: tuple(columns) for view, columns in first[name].views.items()} or None,
            note=first[name].note,
        )
        for name in names
        if name in first
    )
    seeds = tuple(sorted({run.seed for run in runs}))
    finished = {
        each.name: tuple(
            run
            for seed in seeds
            for run in runs
            if (run.variant, run.seed) == (each.name, seed) and run.outcome is not None
        )
        for each in variants
    }
    own = []
    for what in ("encoder", "entities", "preset", "lock"):
        values = list(dict.fromkeys(str(getattr(run, what)) for run in runs))
        if len(values) > 1:
            own.append(f"{regime}: the runs differ in {what}: {', '.join(values)}")
    for name in first:
        # Another version may have other settings; within one they were changed.
        mine = [(run.commit, str(run.settings)) for run in runs if run.variant == name]
        if len(set(mine)) > len({commit for commit, _ in mine}):
            own.append(f"{regime}: the runs of {name} differ in settings")
    plan = ExperimentPlan(
        dataset=last.dataset,
        fingerprint=last.fingerprint,
        split=last.split,
        protocol=last.protocol,
        encoder=last.encoder,
        entities=last.entities,
        preset=last.preset,
        commit=last.commit,
        regime=regime,
        lock=last.lock,
        tuning=last.tuning,
    )
    failed = tuple(run for run in runs if run.outcome is None)
    return Results(path, plan, variants, seeds, finished, failed, (*notes, *own))
