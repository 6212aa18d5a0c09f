"""What a comparison is to do: common conditions, and one job per contestant and seed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from typing import Any

from eventide.comparison.contestant import Contestant
from eventide.comparison.sources import digest_of
from eventide.features.encoders import ENCODERS
from eventide.features.encoders.registry import split_specification
from eventide.methods import METHODS


@dataclass(frozen=True)
class Plan:
    """The conditions that all runs share; ``commit`` names the code for people."""

    dataset: str
    fingerprint: str
    split: str
    protocol: str
    encoder: str
    entities: str
    preset: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    commit: str = ""

    def conditions(self) -> dict[str, str]:
        """Return what a run depends on beside contestant and seed; names decide nothing."""
        facts = asdict(self)
        return {
            name: facts[name]
            for name in ("fingerprint", "split", "protocol", "encoder", "entities")
        }


@dataclass(frozen=True)
class Job:
    """One run to do; ``key`` is the same for the same work, whatever it is called.

    ``code`` is the digest of the code that does it: other code is other work.
    """

    key: str
    contestant: Contestant
    settings: dict[str, Any]
    seed: int
    code: str


def jobs(plan: Plan, contestants: Sequence[Contestant], seeds: Iterable[int]) -> list[Job]:
    """Return the jobs by seed, so that a worker's preparation of a seed serves many of them."""
    resolved = {
        each.name: each.settings(plan.preset, plan.changes).model_dump(mode="json")
        for each in contestants
    }
    codes = {each.name: code_of(each.method, plan.encoder) for each in contestants}
    return [
        Job(_key(plan, each, settings, seed, code), each, settings, seed, code)
        for seed in seeds
        for each in contestants
        for settings, code in [(resolved[each.name], codes[each.name])]
    ]


def code_of(method: str, encoder: str) -> str:
    """Return the digest of the code that a method and an encoder run, other packages' too."""
    encoders = (part.partition(":")[0] for part in split_specification(encoder))
    entries = [METHODS.entry(method), *map(ENCODERS.entry, encoders)]
    return digest_of(entry.target for entry in entries)


def _key(
    plan: Plan, contestant: Contestant, settings: Mapping[str, Any], seed: int, code: str
) -> str:
    facts = {
        **plan.conditions(),
        "method": contestant.method,
        "views": [[view.name, *view.columns] for view in contestant.graph_views()],
        "settings": settings,
        "seed": seed,
        "code": code,
    }
    text = json.dumps(facts, sort_keys=True, ensure_ascii=True)
    return blake2b(text.encode(), digest_size=16).hexdigest()
