"""What claims are judged by: finished runs of a comparison, and looks at trained models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from eventide.comparison import Results
from eventide.comparison.rows import Outcome
from eventide.reports.claims.claim import Claim
from eventide.reports.claims.looks import looked
from eventide.reports.figures.runs import Runs


@dataclass(frozen=True)
class Evidence:
    """Runs by contestant and looks by name and seed, with the reasons why some are missing."""

    results: Results | None = None
    looks: Mapping[str, Mapping[int, Any]] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)

    def outcomes(self, contestant: str) -> dict[int, Outcome]:
        """Return what the finished runs of a contestant gave, by seed."""
        runs = self.results.runs.get(contestant, ()) if self.results else ()
        return {run.seed: run.outcome for run in runs if run.outcome is not None}

    def seen(self, look: str) -> dict[int, Any]:
        """Return a look by seed; seeds for which it failed are left out."""
        return dict(self.looks.get(look, {}))

    def why(self, *names: str) -> str:
        """Say why contestants or looks are missing, each reason once."""
        found = dict.fromkeys(
            f"{name}: {self.missing[name]}" for name in names if name in self.missing
        )
        return "; ".join(found) or f"nothing was measured of {' and '.join(names)}"


def gather(runs: Runs, claims: Iterable[Claim]) -> Evidence:
    """Train whom the claims need, each once: those of a kept comparison not at all."""
    claims = tuple(claims)
    wanted = {each.name: each for claim in claims for each in claim.contestants}
    looks = {look: None for claim in claims for look in claim.looks}
    missing = {each.name: why for each in wanted.values() if (why := each.missing())}
    able = [each for name, each in wanted.items() if name not in missing]
    results = runs.compared(able) if able else None
    if results is not None:
        for run in results.failures:
            why = " ".join((run.error or "no reason given").split())
            missing.setdefault(run.contestant, f"seed {run.seed} failed: {why}")
    seen, failed = looked(runs, tuple(looks))
    return Evidence(results, seen, missing | failed)
