"""Test claims on messages, under one condition or several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from eventide.experiments import Variant
from eventide.experiments.sources import code_name, commit
from eventide.losses.settings import LossSettings
from eventide.reports.claims import CLAIMS
from eventide.reports.claims.claim import Claim, Finding
from eventide.reports.claims.evidence import UCL, gather
from eventide.reports.figures.style import counted
from eventide.reports.figures.trained_runs import Runs
from eventide.scoring.significance import ENOUGH_RUNS


@dataclass(frozen=True)
class Examined:
    """The findings under one condition: a preset in a regime, or with a plain split."""

    preset: str
    regime: str
    split: str
    protocol: str
    encoder: str
    loss: LossSettings
    findings: tuple[Finding, ...]
    notes: tuple[str, ...] = ()
    code: str = ""

    @property
    def name(self) -> str:
        """What tables call the condition."""
        return f"{self.preset}, {self.regime or self.split}"

    def as_dict(self) -> dict[str, Any]:
        """Return everything as JSON can hold it, verdicts included."""
        whole = {**vars(self), "name": self.name, "loss": self.loss.model_dump(mode="json")}
        whole["findings"] = [
            {**asdict(each), "verdict": each.verdict, "links": _links(each)}
            for each in self.findings
        ]
        return whole


def _links(finding: Finding) -> list[dict[str, Any]]:
    return [
        {**asdict(link), "verdict": link.verdict, "unit": link.unit.name, "text": link.text()}
        for link in finding.links
    ]


@dataclass(frozen=True)
class Report:
    """The findings under every condition, and what all conditions share."""

    data: str
    messages: int
    classes: int
    seeds: tuple[int, ...]
    changes: dict[str, Any]
    conditions: tuple[Examined, ...]

    @property
    def notes(self) -> tuple[str, ...]:
        """What all conditions have to say, each sentence once."""
        return tuple(dict.fromkeys(note for each in self.conditions for note in each.notes))

    @property
    def code(self) -> str:
        """Name the code that made the runs of all conditions."""
        return ", ".join(dict.fromkeys(each.code for each in self.conditions if each.code))

    def as_dict(self) -> dict[str, Any]:
        """Return everything as JSON can hold it, verdicts included."""
        return {**vars(self), "conditions": [each.as_dict() for each in self.conditions]}


def examine(conditions: Sequence[Runs], names: Sequence[str] = ()) -> Report:
    """Test the claims called ``names``, all of `CLAIMS` by default, under every condition.

    The conditions are runs on the same messages and seeds; see `conditions`. Runs of `eventide
    compare` in the same folder are used and not done again.
    """
    claims = chosen_claims(names)
    for runs in conditions:
        runs.messages()  # an impossible split fails before anything is trained
    first = conditions[0]
    return Report(
        data=first.name,
        messages=len(first.data.messages),
        classes=first.data.messages["event"].drop_nulls().n_unique(),
        seeds=tuple(first.seeds),
        changes=dict(first.changes),
        conditions=tuple(_examined(runs, claims) for runs in conditions),
    )


def _examined(runs: Runs, claims: dict[str, Claim]) -> Examined:
    evidence = gather(runs, claims.values())
    notes = list(evidence.results.notes if evidence.results else runs.data.notes)
    notes += [f"missing, {name}: {why}" for name, why in evidence.missing.items()]
    if len(runs.seeds) < ENOUGH_RUNS:
        seeds = counted(len(runs.seeds), "seed", "seeds")
        notes.append(f"too few runs: {seeds} where the paper has {ENOUGH_RUNS}")
    return Examined(
        preset=runs.preset,
        regime=runs.regime,
        split=runs.split,
        protocol=runs.protocol or "",
        encoder=runs.encoder,
        loss=UCL.settings(runs.preset, runs.changes).loss,
        findings=tuple(
            Finding(name, claim.says, claim.rule, tuple(claim.assess(evidence)))
            for name, claim in claims.items()
        ),
        notes=tuple(notes),
        code=evidence.results.made_by if evidence.results else code_name([commit()]),
    )


def chosen_claims(names: Sequence[str] = ()) -> dict[str, Claim]:
    """Load the claims called ``names``, or all that work."""
    return {name: CLAIMS.load(name) for name in names} if names else CLAIMS.working()


def needed(names: Sequence[str] = ()) -> tuple[Variant, ...]:
    """Return the variants that these claims compare, each once, if this version has them."""
    claims = chosen_claims(names)
    found = {each.name: each for claim in claims.values() for each in claim.variants}
    return tuple(each for each in found.values() if not each.missing())
