"""One run: fit a variant, predict the test messages, and record the outcome."""

from __future__ import annotations

import math
import platform
import time
import traceback
from collections.abc import Mapping
from datetime import UTC, datetime
from statistics import fmean
from typing import Any

import numpy as np

import eventide
from eventide.corpus.corpus import Ints
from eventide.errors import EventideError
from eventide.experiments.fitted_variant import FittedVariant
from eventide.experiments.jobs import ExperimentPlan, Job
from eventide.experiments.prepared import SeedSplit, SplitMessages
from eventide.experiments.run_log import (
    Figures,
    Outcome,
    RunRecord,
    Seconds,
    SetFigures,
    Sizes,
    ValidationFigures,
)
from eventide.methods import METHODS
from eventide.methods.method import Prediction
from eventide.methods.tuned import TUNED_PRESET, tuning_note
from eventide.scoring.calibration_error import class_averaged_nll, expected_calibration_error
from eventide.scoring.metrics import error_auroc, score, tail_recall
from eventide.scoring.selective import aurc
from eventide.settings import Settings

LINES_OF_TRACE = 12
USUAL = 0.99
WANTED = {"scarce": 0.9, "weak": 0.9}
"""The coverage that prediction sets are made for, and by how a harder regime's name begins."""


def run(job: Job, messages: SplitMessages) -> RunRecord:
    """Do one job; an error is recorded, so that the other jobs can go on."""
    try:
        return _record(
            job, messages.plan, _outcome(job, messages.of(job.seed), messages.plan.regime)
        )
    except EventideError as error:
        return _record(job, messages.plan, error=str(error))
    except Exception as error:  # any error of a method must not stop the others
        lines = "".join(traceback.format_exception(error)).splitlines()[-LINES_OF_TRACE:]
        what = f"{type(error).__name__}: {error}"
        return _record(job, messages.plan, error=what, trace="\n".join(lines))


def _outcome(job: Job, split: SeedSplit, regime: str) -> Outcome:
    variant = FittedVariant.fit(job.variant, Settings.model_validate(job.settings), split)
    started = time.perf_counter()
    prediction = variant.predict("test")
    predict_seconds = time.perf_counter() - started
    data, training = variant.fitted.data, variant.fitted.run
    truth, taken = variant.truth("test"), variant.fitted.seconds
    epochs = [row["seconds"] for row in training.history if "seconds" in row]
    best = training.history[training.best_epoch - 1] if training.best_epoch > 0 else {}
    return Outcome(
        seconds=Seconds(
            prepare=taken.prepare,
            fit=taken.fit,
            epoch=fmean(epochs) if epochs else None,
            predict=predict_seconds,
            processor=taken.processor / len(training.history) if epochs else None,
        ),
        epochs=len(training.history),
        best_epoch=training.best_epoch,
        validation=ValidationFigures(
            accuracy=_finite(best, "validation_accuracy"),
            macro_f1=_finite(best, "validation_f1"),
            loss=_finite(best, "validation_loss"),
            nll=_finite(best, "validation_nll"),
        ),
        test=figures(
            truth,
            prediction,
            data.training_set.class_counts,
            unseen_apart=split.unseen_apart,
            sets=_sets(regime, variant, prediction, truth),
        ),
        classes=len(data.classes),
        messages=Sizes(
            train=len(data.training_set.training_rows),
            validation=len(data.training_set.validation),
            test=len(split.test),
        ),
        tested=split.tested,
        truth=truth.tolist(),
        predicted=prediction.scored_as.tolist(),
        # Significant digits, not decimals: a doubt of 1e-9 still ranks among others.
        doubt=[float(f"{each:.4g}") for each in prediction.doubt],
        steps=int(training.history[-1].get("steps", 0)) if training.history else None,
    )


def _sets(
    regime: str, variant: FittedVariant, prediction: Prediction, truth: Ints
) -> SetFigures | None:
    """Make prediction sets on the validation messages, and count what they hold of the known."""
    kept = variant.fitted.validation
    known = truth < prediction.probability.shape[1]
    if not len(kept) or not known.any():
        return None
    wanted = next((share for name, share in WANTED.items() if regime.startswith(name)), USUAL)
    sets = kept.prediction_sets(wanted)
    inside = sets.contains(prediction.probability[known], prediction.predicted[known])
    held = inside[np.arange(len(inside)), truth[known]]
    by_class = [held[truth[known] == each].mean() for each in np.unique(truth[known])]
    return SetFigures(
        wanted=wanted,
        coverage=float(held.mean()),
        class_coverage=float(np.mean(by_class)),
        size=float(inside.sum(axis=1).mean()),
    )


def figures(
    truth: Ints,
    prediction: Prediction,
    counts: Ints,
    *,
    unseen_apart: bool = False,
    sets: SetFigures | None = None,
) -> Figures:
    """Score a prediction of test messages; the undecided are wrong.

    ``counts`` [C] are the training messages per class. A ``truth`` of C or more is an event that
    was not trained on, which nobody can assign rightly: it counts as wrong, or with
    ``unseen_apart`` for ``unseen_auroc`` alone.
    """
    known = truth < len(counts)
    scored = known if unseen_apart else np.ones(len(truth), dtype=bool)
    doubt, vacuity = prediction.doubt[scored], prediction.uncertainty[scored]
    expected, predicted = truth[scored], prediction.scored_as[scored]
    wrong = predicted != expected
    found = score(expected, predicted)
    return Figures(
        accuracy=found.accuracy,
        macro_f1=found.macro_f1,
        nmi=found.nmi,
        ami=found.ami,
        ari=found.ari,
        auroc=error_auroc(wrong, doubt),
        vacuity_auroc=error_auroc(wrong, vacuity),
        uncertainty_right=_mean(vacuity[~wrong]),
        uncertainty_wrong=_mean(vacuity[wrong]),
        tail_recall=tail_recall(expected, predicted, counts),
        nll=class_averaged_nll(truth[known], prediction.probability[known]),
        ece=expected_calibration_error(1 - doubt, ~wrong),
        unseen_auroc=error_auroc(~known, prediction.doubt),
        aurc=aurc(doubt, ~wrong),
        sets=sets,
    )


def _record(
    job: Job,
    plan: ExperimentPlan,
    outcome: Outcome | None = None,
    error: str | None = None,
    trace: str = "",
) -> RunRecord:
    import torch

    variant = job.variant
    return RunRecord(
        key=job.key,
        variant=variant.name,
        method=variant.method,
        note=variant.note or row_note(variant.method, plan.preset, job.settings),
        dataset=plan.dataset,
        fingerprint=plan.fingerprint,
        seed=job.seed,
        split=plan.split,
        protocol=plan.protocol,
        encoder=plan.encoder,
        entities=plan.entities,
        preset=plan.preset,
        views={view.name: list(view.columns) for view in variant.graph_views()},
        settings=job.settings,
        versions=versions(),
        threads=torch.get_num_threads(),
        finished_at=datetime.now(UTC).isoformat(timespec="seconds"),
        outcome=outcome,
        error=error,
        trace=trace,
        code=job.code,
        commit=plan.commit,
        regime=plan.regime,
        lock=plan.lock,
        tuning=plan.tuning,
    )


def row_note(method: str, preset: str, settings: Mapping[str, Any]) -> str:
    """Return what belongs beside a method's figures: its own note, and how it was tuned, if not."""
    tuning = tuning_note(method) if preset == TUNED_PRESET else ""
    return "; ".join(filter(None, (method_note(method, settings), tuning)))


def method_note(method: str, settings: Mapping[str, Any]) -> str:
    """Return the note that belongs beside a method's figures, given the settings of the run.

    >>> from eventide.settings import resolve
    >>> method_note("kpgnn", resolve({"graph.sampled_neighbours": 8}).model_dump())
    'at most 8 sampled neighbours a message (released: 800), batches of 1500 (released: 2000), ...'
    """
    note: str = getattr(METHODS.load(method), "note", "")
    return note.format(settings=Settings.model_validate(settings))


def versions() -> dict[str, str]:
    """Name the versions that figures may depend on."""
    import torch

    return {
        "eventide": eventide.__version__,
        "torch": torch.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
    }


def _finite(row: Mapping[str, Any], name: str) -> float | None:
    value = row.get(name)
    return float(value) if value is not None and math.isfinite(value) else None


def _mean(values: Any) -> float | None:
    return float(values.mean()) if len(values) else None
