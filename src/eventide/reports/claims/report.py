"""Test claims on messages: gather the evidence once, then judge every claim by it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from eventide.comparison import Contestant
from eventide.comparison.sources import code_name, commit
from eventide.reports.claims import CLAIMS
from eventide.reports.claims.claim import Claim, Finding
from eventide.reports.claims.evidence import gather
from eventide.reports.figures.runs import Runs
from eventide.reports.figures.words import counted
from eventide.scoring.significance import ENOUGH_RUNS


@dataclass(frozen=True)
class Report:
    """All findings, and the conditions that they were made under."""

    data: str
    messages: int
    seeds: tuple[int, ...]
    split: str
    encoder: str
    preset: str
    changes: dict[str, Any]
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]
    code: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return everything as JSON can hold it, verdicts included."""
        whole = asdict(self)
        for finding, written in zip(self.findings, whole["findings"], strict=True):
            written["verdict"] = finding.verdict
            for link, row in zip(finding.links, written["links"], strict=True):
                row |= {"verdict": link.verdict, "unit": link.unit.name, "text": link.text()}
        return whole


def examine(runs: Runs, names: Sequence[str] = ()) -> Report:
    """Test the claims called ``names``, all of `CLAIMS` by default, as ``runs`` says.

    Runs of `eventide compare` in the same folder are used and not done again.
    """
    names = tuple(dict.fromkeys(names or CLAIMS.names()))
    claims: dict[str, Claim] = {name: CLAIMS.load(name) for name in names}
    runs.messages()  # a split that cannot be is said before anything is trained
    evidence = gather(runs, claims.values())
    notes = list(evidence.results.notes if evidence.results else runs.material.notes)
    notes += [f"missing, {name}: {why}" for name, why in evidence.missing.items()]
    if len(runs.seeds) < ENOUGH_RUNS:
        seeds = counted(len(runs.seeds), "seed", "seeds")
        notes.append(f"too few runs: {seeds} where the paper has {ENOUGH_RUNS}")
    return Report(
        data=runs.name,
        messages=len(runs.material.messages),
        seeds=tuple(runs.seeds),
        split=runs.split,
        encoder=runs.encoder,
        preset=runs.preset,
        changes=dict(runs.changes),
        findings=tuple(
            Finding(name, claim.says, claim.rule, tuple(claim.judge(evidence)))
            for name, claim in claims.items()
        ),
        notes=tuple(notes),
        code=evidence.results.made_by if evidence.results else code_name([commit()]),
    )


def needed(names: Sequence[str] = ()) -> tuple[Contestant, ...]:
    """Return whom the claims called ``names`` compare, each once, if this version has them."""
    claims = [CLAIMS.load(name) for name in names or CLAIMS.names()]
    found = {each.name: each for claim in claims for each in claim.contestants}
    return tuple(each for each in found.values() if not each.missing())
