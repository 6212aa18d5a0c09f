"""What a comparison over several regimes found: the results of each, side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from eventide.experiments.results import Results
from eventide.experiments.run_log import RunRecord
from eventide.experiments.sources import code_name
from eventide.experiments.variants import Variant


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
