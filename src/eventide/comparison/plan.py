"""What a comparison is to do: common conditions, and one job per contestant and seed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from typing import Any

import eventide
from eventide.comparison.contestant import Contestant


@dataclass(frozen=True)
class Plan:
    """The conditions that all runs share."""

    dataset: str
    fingerprint: str
    split: str
    protocol: str
    encoder: str
    entities: str
    preset: str
    changes: Mapping[str, Any] = field(default_factory=dict)

    def conditions(self) -> dict[str, str]:
        """Return what a run depends on beside contestant and seed; names decide nothing."""
        facts = asdict(self)
        return {
            name: facts[name]
            for name in ("fingerprint", "split", "protocol", "encoder", "entities")
        }


@dataclass(frozen=True)
class Job:
    """One run to do; ``key`` is the same for the same work, whatever it is called."""

    key: str
    contestant: Contestant
    settings: dict[str, Any]
    seed: int


def jobs(plan: Plan, contestants: Sequence[Contestant], seeds: Iterable[int]) -> list[Job]:
    """Return the jobs by seed, so that a worker's preparation of a seed serves many of them."""
    resolved = {
        each.name: each.settings(plan.preset, plan.changes).model_dump(mode="json")
        for each in contestants
    }
    return [
        Job(_key(plan, each, resolved[each.name], seed), each, resolved[each.name], seed)
        for seed in seeds
        for each in contestants
    ]


def _key(plan: Plan, contestant: Contestant, settings: Mapping[str, Any], seed: int) -> str:
    facts = {
        **plan.conditions(),
        "method": contestant.method,
        "views": [[view.name, *view.columns] for view in contestant.graph_views()],
        "settings": settings,
        "seed": seed,
        "eventide": eventide.__version__,
    }
    text = json.dumps(facts, sort_keys=True, ensure_ascii=True)
    return blake2b(text.encode(), digest_size=16).hexdigest()
