"""Results of several regimes, invented: how many of ten predictions are right, run by run."""

from pathlib import Path

from eventide.experiments.jobs import ExperimentPlan
from eventide.experiments.regime_results import RegimeResults
from eventide.experiments.results import Results
from eventide.experiments.run_log import (
    Figures,
    Outcome,
    RunRecord,
    Seconds,
    SetFigures,
    Sizes,
    ValidationFigures,
)
from eventide.experiments.variants import Variant

TESTED = 200


def outcome(share, *, unseen=None, tested="abc"):
    """A run with this share of right predictions."""
    right = round(share * TESTED)
    return Outcome(
        seconds=Seconds(prepare=1.0, fit=2.0 + share, epoch=0.5, predict=0.25),
        epochs=4,
        best_epoch=3,
        validation=ValidationFigures(accuracy=0.5),
        test=Figures(
            accuracy=right / TESTED, macro_f1=share / 2, nmi=0.5, ami=0.25, ari=0.125,
            auroc=None if right == TESTED else 0.5 + share / 4, uncertainty_right=0.1,
            uncertainty_wrong=0.2, tail_recall=share / 4, nll=1 - share, ece=(1 - share) / 2,
            unseen_auroc=unseen, aurc=(1 - share) / 4,
            sets=SetFigures(wanted=0.9, coverage=share, class_coverage=share, size=2 - share),
        ),
        classes=2,
        messages=Sizes(train=1000, validation=50, test=TESTED),
        tested=tested,
        truth=[0] * TESTED,
        predicted=[0] * right + [1] * (TESTED - right),
        doubt=[0.5] * TESTED,
    )  # fmt: skip


def record(regime, name, seed, share, **changes):
    """One run; without a share it failed."""
    given = {
        "key": f"{regime}{name}{seed}", "variant": name, "method": name, "note": "",
        "dataset": "crisislex-lt28", "fingerprint": "f", "seed": seed, "split": "locked",
        "protocol": "inductive", "encoder": "wordllama", "entities": "rules", "preset": "default",
        "views": {}, "settings": {}, "versions": {"eventide": "1", "torch": "2"}, "threads": 1,
        "finished_at": "2026-01-01T00:00:00+00:00", "error": None if share else "bad\n  luck",
        "outcome": outcome(share, unseen=0.75 if regime == "unseen-event" else None)
        if share else None,
        "commit": "abc1234", "regime": regime, "lock": "crisislex-1",
    }  # fmt: skip
    return RunRecord(**(given | changes))


def invented(shares, *, tuning=False, notes=None, dataset="crisislex-lt28", path="out/runs.jsonl"):
    """Results from ``{regime: {method: [share right, ...]}}``; None is a failed run."""
    parts = {}
    for regime, methods in shares.items():
        encoder = "tfidf-svd:16" if regime == "weak-vectors" else "wordllama"
        plan = ExperimentPlan(
            dataset, "f", "locked", "inductive", encoder, "rules", "default", commit="abc1234",
            regime=regime, lock="crisislex-1", tuning=tuning,
        )  # fmt: skip
        runs, failed = {}, []
        for name, values in methods.items():
            told = {"note": (notes or {}).get(name, ""), "tuning": tuning, "encoder": encoder}
            records = [record(regime, name, *each, **told) for each in enumerate(values)]
            runs[name] = tuple(run for run in records if run.outcome)
            failed += [run for run in records if not run.outcome]
        seeds = tuple(range(max(map(len, methods.values()))))
        variants = tuple(Variant(name, name) for name in methods)
        parts[regime] = Results(Path(path), plan, variants, seeds, runs, tuple(failed))
    return RegimeResults(parts)
