"""What claims are tested with: finished runs, and probes of trained models.

Probes are taken seed by seed: each method is trained once for all probes, and let go before the
next seed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from eventide.errors import EventideError
from eventide.experiments import Results, Variant, choose
from eventide.experiments.run_log import Outcome
from eventide.losses import PROTOTYPES
from eventide.reports.claims.claim import Claim
from eventide.reports.figures import class_uncertainty
from eventide.reports.figures import drift_curves as drift
from eventide.reports.figures import similarity_histograms as similarity
from eventide.reports.figures.trained_runs import Runs

CE, UCL, UCL_EC = choose("ce,ucl,ucl-ec").variants
LEARNED = ("learned", "unit")
"""Prototypes that every batch changes: as printed, and kept at length 1, as centroids are."""


def drifting() -> tuple[Variant, ...]:
    """Return the variants whose prototypes are watched, those that this version has."""
    learned = [
        Variant(f"{UCL.name}/{kind}", UCL.method, {"loss.prototypes": kind})
        for kind in LEARNED
        if kind in PROTOTYPES
    ]
    return (*learned, UCL_EC)


PROBES: dict[str, Callable[[Runs], Any]] = {
    # Drift comes first: it has to watch a training, and the others use what it trained.
    "drift": lambda runs: drift.measure(runs.showing(*drifting())),
    "class-uncertainty": class_uncertainty.measure,
    "groups": lambda runs: runs.groups(),
    "similarity": lambda runs: similarity.measure(runs.showing(CE, UCL_EC)),
}


def probe(runs: Runs, names: Sequence[str]) -> tuple[dict[str, dict[int, Any]], dict[str, str]]:
    """Take the probes for every seed; return them by name and seed, and why some failed."""
    found: dict[str, dict[int, Any]] = {name: {} for name in PROBES if name in names}
    failed: dict[str, str] = {}
    for seed in runs.seeds if found else ():
        own = replace(runs, seeds=(seed,))
        for name in found:
            try:
                found[name][seed] = PROBES[name](own)
            except EventideError as error:
                failed[name] = f"seed {seed}: {error.what}"
            except Exception as error:  # one probe that fails must not stop the other claims
                failed[name] = f"seed {seed}: {type(error).__name__}: {error}"
    return found, failed


@dataclass(frozen=True)
class Evidence:
    """Runs by variant and probes by name and seed, with the reasons why some are missing."""

    results: Results | None = None
    probes: Mapping[str, Mapping[int, Any]] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)

    def outcomes(self, variant: str) -> dict[int, Outcome]:
        """Return what the finished runs of a variant gave, by seed."""
        runs = self.results.runs.get(variant, ()) if self.results else ()
        return {run.seed: run.outcome for run in runs if run.outcome is not None}

    def probed(self, name: str) -> dict[int, Any]:
        """Return a probe by seed; seeds for which it failed are left out."""
        return dict(self.probes.get(name, {}))

    def why(self, *names: str) -> str:
        """Say why variants or probes are missing, each reason once."""
        found = dict.fromkeys(
            f"{name}: {self.missing[name]}" for name in names if name in self.missing
        )
        return "; ".join(found) or f"nothing was measured of {' and '.join(names)}"


def gather(runs: Runs, claims: Iterable[Claim]) -> Evidence:
    """Train what the claims need, each variant once; those of a kept comparison not at all."""
    claims = tuple(claims)
    wanted = {each.name: each for claim in claims for each in claim.variants}
    probes = {name: None for claim in claims for name in claim.probes}
    missing = {each.name: why for each in wanted.values() if (why := each.missing())}
    able = [each for name, each in wanted.items() if name not in missing]
    results = runs.compared(able) if able else None
    if results is not None:
        for run in results.failures:
            why = " ".join((run.error or "no reason given").split())
            missing.setdefault(run.variant, f"seed {run.seed} failed: {why}")
    probed, failed = probe(runs, tuple(probes))
    return Evidence(results, probed, missing | failed)
