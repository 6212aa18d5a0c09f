"""What an experiment is to do: checked names and settings, one job per variant and seed."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

from eventide.data.splits import SPLITS, split_name
from eventide.errors import BadSetting, OutputError
from eventide.experiments.run_log import RunLog
from eventide.experiments.sources import digest_of
from eventide.experiments.variants import Variant
from eventide.features.elements import check_entities
from eventide.features.encoders import DEFAULT_ENCODER, ENCODERS, split_specification
from eventide.features.encoders import encoder as make_encoder
from eventide.methods import METHODS
from eventide.model.parameters import check_protocol
from eventide.outputs import check_file
from eventide.settings import Settings, registered_targets


@dataclass(frozen=True)
class ExperimentPlan:
    """The conditions that all runs share; ``commit`` names the code for people.

    With a ``regime`` the messages are split as it says (see `regimes`), else as ``split`` says.
    ``lock`` names the locked messages: they are tested, or with ``tuning`` not there at all.
    """

    dataset: str
    fingerprint: str
    split: str
    protocol: str
    encoder: str
    entities: str
    preset: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    commit: str = ""
    regime: str = ""
    lock: str = ""
    tuning: bool = False

    def conditions(self) -> dict[str, Any]:
        """Return what a run depends on beside variant and seed; names decide nothing."""
        names = ["fingerprint", "split", "protocol", "encoder", "entities"]
        names += ["regime", "lock", "tuning"] if self.regime else []
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True)
class Job:
    """One run to do; ``key`` is the same for the same work, whatever it is called.

    ``code`` is the digest of the code that does it: other code is other work.
    """

    key: str
    variant: Variant
    settings: dict[str, Any]
    seed: int
    code: str


def jobs(plan: ExperimentPlan, variants: Sequence[Variant], seeds: Iterable[int]) -> list[Job]:
    """Return the jobs by seed, so that a worker's preparation of a seed serves many of them."""
    settings_of = {each.name: each.settings(plan.preset, plan.changes) for each in variants}
    resolved = {name: each.model_dump(mode="json") for name, each in settings_of.items()}
    codes = {
        each.name: code_of(each.method, plan.encoder, settings_of[each.name]) for each in variants
    }
    return [
        Job(_key(plan, each, settings, seed, code), each, settings, seed, code)
        for seed in seeds
        for each in variants
        for settings, code in [(resolved[each.name], codes[each.name])]
    ]


def code_of(method: str, encoder: str, settings: Settings) -> str:
    """Return the digest of the code of a run: method, encoder, and losses chosen by settings.

    It covers the code of other packages too.
    """
    encoders = (part.partition(":")[0] for part in split_specification(encoder))
    entries = [METHODS.entry(method), *map(ENCODERS.entry, encoders)]
    return digest_of([*(entry.target for entry in entries), *registered_targets(settings)])


def _key(
    plan: ExperimentPlan, variant: Variant, settings: Mapping[str, Any], seed: int, code: str
) -> str:
    conditions = {
        **plan.conditions(),
        "method": variant.method,
        "views": [[view.name, *view.columns] for view in variant.graph_views()],
        "settings": settings,
        "seed": seed,
        "code": code,
    }
    text = json.dumps(conditions, sort_keys=True, ensure_ascii=True)
    return blake2b(text.encode(), digest_size=16).hexdigest()


def checked_protocol(split: str, protocol: str | None) -> str:
    """Return the protocol to use with a split; an inductive split allows only one.

    >>> checked_protocol("chronological", None), checked_protocol("random", None)
    ('inductive', 'transductive')
    """
    inductive = SPLITS[split_name(split)].inductive
    if protocol is None:
        return "inductive" if inductive else "transductive"
    check_protocol(protocol)
    if inductive and protocol != "inductive":
        raise BadSetting(
            f"a {split} split is inductive: its later messages are not there during training",
            next_step="leave --protocol out, or choose another split",
        )
    return protocol


RUNS = "runs.jsonl"


def check_request(
    variants: Sequence[Variant],
    seeds: Sequence[int],
    *,
    split: str = "random",
    protocol: str | None = None,
    preset: str = "default",
    encoder: str = DEFAULT_ENCODER,
    entities: str = "rules",
    changes: Mapping[str, Any] | None = None,
    workers: int | None = None,
) -> str:
    """Refuse what cannot be run, and return the protocol to use."""
    names = [each.name for each in variants]
    twice = [name for name in names if names.count(name) > 1]
    if not names or not seeds:
        raise BadSetting(
            "a comparison needs at least one method and one seed",
            next_step="name methods (--methods) and seeds (--seeds)",
        )
    if twice:
        raise BadSetting(f"two variants are called {twice[0]!r}", next_step="rename one")
    if min(seeds) < 0:
        raise BadSetting(
            f"a seed cannot be negative: {min(seeds)}", next_step="choose seeds from 0 on"
        )
    if workers is not None and workers < 1:
        raise BadSetting(
            f"there must be at least one worker, not {workers}", next_step="choose 1 or more"
        )
    protocol = checked_protocol(split, protocol)
    check_entities(entities)
    make_encoder(encoder)
    for each in variants:
        if why := each.missing():
            raise BadSetting(
                f"{each.name!r} cannot run in this version: {why}",
                next_step="see: eventide methods",
            )
        each.settings(preset, changes or {})
    return protocol


def check_runs_folder(folder: Path | str, inputs: Sequence[Path | str] = ()) -> Path:
    """Return ``folder`` (``~`` expanded) if runs can be kept there, else raise `OutputError`.

    It may hold other things; a file ``runs.jsonl`` must be one of ours.
    """
    folder = Path(folder).expanduser()
    if folder.exists() and not folder.is_dir():
        raise OutputError(
            "a file, where a folder of runs is to be", where=str(folder), next_step="name a folder"
        )
    path = check_file(folder / RUNS, overwrite=True, inputs=inputs)
    if path.exists() and not os.access(path, os.R_OK | os.W_OK):
        raise OutputError(
            "the runs there may not be read and written",
            where=str(path),
            next_step="choose another folder",
        )
    if not RunLog(path).is_ours():
        raise OutputError(
            f"the folder holds a {RUNS} that is not of a comparison",
            where=str(path),
            next_step="choose another folder",
        )
    return folder
