"""Equal chances: every method's settings from the same number of trials, on unlocked messages.

A method starts from the paper's settings with the one rule of training (preset `untuned`). Seven
changes are tried one after the other; a change stays if the score is better with it. The score is
the class-averaged NLL of the tested messages, averaged over three regimes: a proper score, in which
accuracy and honest probabilities both count. Trials are short. No locked message is there at all.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

from eventide.errors import BadSetting, LockedMessages
from eventide.experiments.engine import Step, compare_regimes
from eventide.experiments.prepared import ExperimentData
from eventide.experiments.regime_results import RegimeResults
from eventide.experiments.sources import commit
from eventide.experiments.variants import Variant
from eventide.methods import METHODS
from eventide.storage import atomic_file

REGIMES = ("random", "chronological", "scarce-10")
START = "untuned"
SEED = 100
TRIALS = 8
SHORT: Mapping[str, Any] = {"training.least_steps": 200}
"""Trials are shorter than runs that are reported: 200 steps where batches are few."""

Changes = Mapping[str, Any]

_RATE: Changes = {"training.learning_rate": 3e-3}
_BATCH: Changes = {"training.batch_size": 256}
_DECAY: Changes = {"network.time_decay": "positive"}
_OWN: Changes = {"network.residual": True}
_DROPOUT: Changes = {"network.dropout": 0.5}
_EMA: Changes = {"training.ema_decay": 0.95}
_WEIGHTS: Changes = {"training.weight_decay": 5e-4}
_SCALE: Changes = {"network.cosine_scale": 15.0}
_EXP: Changes = {"network.evidence": "exp", "loss.calibration_weight": 0.1}
_SHARP: Changes = {"loss.temperature": 0.1, "loss.contrastive_weight": 1.0}

LOGITS = (_RATE, _BATCH, _DECAY, _OWN, _DROPOUT, _EMA, _WEIGHTS)
COSINES = (_RATE, _BATCH, _DECAY, _OWN, _DROPOUT, _EMA, _SCALE)
EVIDENCE = (_EXP, _RATE, _BATCH, _DECAY, _OWN, _EMA, _DROPOUT)
BOUNDARIES = (_EXP, _RATE, _BATCH, _DECAY, _OWN, _SHARP, _DROPOUT)
SAMPLED = (
    _RATE,
    {"training.learning_rate": 1e-2},
    _BATCH,
    _EMA,
    {"training.weight_decay": 1e-3},
    {"network.feature_normalisation": "standard"},
    {"graph.sampled_neighbours": 16},
)
WORDS = (
    _RATE,
    {"training.learning_rate": 1e-2},
    _BATCH,
    {"training.batch_size": 64},
    _EMA,
    {"training.weight_decay": 1e-4},
    {"training.weight_decay": 1e-3},
)
PROBE = tuple(
    {"training.probe_strength": each} for each in (0.1, 3.0, 10.0, 30.0, 100.0, 300.0, 1e3)
)

SPACES: Mapping[str, Sequence[Changes]] = {
    **dict.fromkeys(("ucl", "ucl-ec", "ucl+cb", "ucl-ec+cb"), BOUNDARIES),
    "i-edl": EVIDENCE,
    **dict.fromkeys(("bcl", "ldam", "ldam-drw"), COSINES),
    **dict.fromkeys(("kpgnn", "mvgan"), SAMPLED),
    **dict.fromkeys(("word2vec", "static-vectors"), WORDS),
    **dict.fromkeys(("lr-tfidf", "lr-encoder", "twitter-lda"), PROBE),
}
"""The changes to try for a method; `LOGITS` for every other one."""
BORROWED: Mapping[str, str] = {"ce-ensemble": "ce"}
"""Methods that take the settings of another: its members are that method."""
PUBLISHED: Mapping[str, str] = {
    "bert": "minutes a run",
    "few-shot-minilm": "minutes a run",
    "pp-gcn": "minutes a run",
    "nearest-in-time": "nothing to set",
    "ucl-sharp": "designed on unlocked messages",
}
"""Methods that keep the settings they come with, and why."""


@dataclass(frozen=True)
class Trial:
    """One trial: the settings beyond the start, the NLL of each regime, and their mean.

    ``score`` is None where a run failed.
    """

    changes: dict[str, Any]
    nll: dict[str, float | None]
    accuracy: dict[str, float | None]
    score: float | None
    kept: bool


@dataclass
class Tuning:
    """The trials of every method so far."""

    trials: dict[str, list[Trial]] = field(default_factory=dict)

    def best(self, method: str) -> dict[str, Any]:
        """Return the changes of the last trial that was kept."""
        kept = [trial for trial in self.trials.get(method, ()) if trial.kept]
        return dict(kept[-1].changes) if kept else {}

    def score(self, method: str) -> float | None:
        """Return the score of the last trial that was kept."""
        kept = [trial for trial in self.trials.get(method, ()) if trial.kept]
        return kept[-1].score if kept else None

    def add(self, method: str, changes: Changes, results: RegimeResults) -> None:
        """Record a trial, and keep its changes if they are the best so far."""
        nll, accuracy = _figures(results, method, "nll"), _figures(results, method, "accuracy")
        values = [each for each in nll.values() if each is not None]
        score = fmean(values) if len(values) == len(nll) else None
        before = self.score(method)
        first = not self.trials.get(method)
        kept = first or (score is not None and (before is None or score < before))
        trial = Trial(dict(changes), nll, accuracy, score, kept)
        self.trials.setdefault(method, []).append(trial)


def space_of(method: str) -> Sequence[Changes]:
    """Return the changes that are tried for a method, in order.

    >>> len(space_of("ce")), len(space_of("ucl-ec"))
    (7, 7)
    """
    return SPACES.get(method, LOGITS)


def check_tunable(methods: Sequence[str]) -> list[str]:
    """Return the methods to run trials for; those that keep other settings are left out."""
    for name in methods:
        METHODS.entry(name)
    chosen = [name for name in methods if name not in (*BORROWED, *PUBLISHED)]
    if not chosen:
        raise BadSetting(
            "none of these methods has settings to tune",
            next_step=f"name others than {', '.join((*BORROWED, *PUBLISHED))}",
        )
    return chosen


def tune(
    data: ExperimentData,
    methods: Sequence[str],
    *,
    out: str | Path,
    workers: int | None = None,
    watch: Callable[[str, Step], None] = lambda _, __: None,
    trials: int = TRIALS,
    changes: Changes | None = None,
) -> dict[str, Any]:
    """Run the trials of every method, and return the record that `write_record` writes.

    All methods do their first trial, then all their second, and so on, in worker processes; what
    has run is kept in ``out``. ``changes`` are settings for all trials, for a quick look.
    """
    chosen = check_tunable(methods)
    found = Tuning()
    for number in range(trials):
        asked = {
            name: found.best(name) | dict(space_of(name)[number - 1] if number else {})
            for name in chosen
        }
        results = compare_regimes(
            data,
            [Variant(name, name, settings) for name, settings in asked.items()],
            [SEED],
            REGIMES,
            out=out,
            tuning=True,
            preset=START,
            workers=workers,
            changes={**SHORT, **(changes or {})},
            entities=data.entities,
            watch=lambda name, step, number=number: watch(  # type: ignore[misc]
                f"trial {number + 1} of {trials}, {name}", step
            ),
        )
        check_unlocked(results)
        for name, settings in asked.items():
            found.add(name, settings, results)
    return _record(data, found, methods)


def check_unlocked(results: RegimeResults) -> None:
    """Refuse to choose by figures of locked messages."""
    if not results.tuning:
        raise LockedMessages(
            "these runs were tested on locked messages: they report, they do not choose",
            where=str(results.path),
            next_step="run them with --tuning, which leaves locked messages out",
        )


def write_record(record: Mapping[str, Any], path: Path) -> None:
    """Write the record, whole or not at all."""
    with atomic_file(path, "the tuned settings") as temporary:
        temporary.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def _figures(results: RegimeResults, method: str, measure: str) -> dict[str, float | None]:
    found: dict[str, float | None] = {}
    for name, part in results.parts.items():
        outcomes = part.outcomes(method)
        value = getattr(outcomes[0].test, measure) if outcomes else None
        found[name] = None if value is None else float(f"{value:.6g}")
    return found


def _record(data: ExperimentData, found: Tuning, methods: Sequence[str]) -> dict[str, Any]:
    rows: dict[str, Any] = {
        name: {
            "chosen": found.best(name),
            "trials": [asdict(trial) for trial in trials],
        }
        for name, trials in found.trials.items()
    }
    rows |= {
        name: {"chosen": found.best(other), "as": other}
        for name, other in BORROWED.items()
        if name in methods and other in found.trials
    }
    rows |= {name: {"chosen": {}, "why": why} for name, why in PUBLISHED.items() if name in methods}
    return {
        "dataset": data.name,
        "lock": data.lock.name,
        "messages": len(data.tuning_pool.messages),
        "regimes": list(REGIMES),
        "seed": SEED,
        "start": START,
        "short": dict(SHORT),
        "code": commit(),
        "methods": dict(sorted(rows.items())),
    }
