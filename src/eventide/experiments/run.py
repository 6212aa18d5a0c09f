"""One run: prepare, fit, predict the test messages, and write down what happened."""

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
from eventide.corpus.corpus import Corpus, Ints
from eventide.errors import EventideError
from eventide.experiments.jobs import ExperimentPlan, Job
from eventide.experiments.prepared import Workshop
from eventide.experiments.run_log import Figures, Outcome, RunRecord, Seconds, ValidationFigures
from eventide.methods import METHODS
from eventide.methods.method import Method, Prediction
from eventide.scoring.metrics import error_auroc, score
from eventide.settings import Settings

LINES_OF_TRACE = 12


def run(job: Job, workshop: Workshop) -> RunRecord:
    """Do one job; what goes wrong is written down, so that the other jobs can go on."""
    try:
        return _row(job, workshop.plan, _outcome(job, workshop))
    except EventideError as error:
        return _row(job, workshop.plan, error=str(error))
    except Exception as error:  # whatever a method may throw must not stop the others
        lines = "".join(traceback.format_exception(error)).splitlines()[-LINES_OF_TRACE:]
        what = f"{type(error).__name__}: {error}"
        return _row(job, workshop.plan, error=what, trace="\n".join(lines))


def _outcome(job: Job, workshop: Workshop) -> Outcome:
    settings = Settings.model_validate(job.settings)
    ready = workshop.prepared(job.seed, job.variant.graph_views(), settings.graph)
    method: Method = METHODS.load(job.variant.method)(settings, job.seed)
    started, worked = time.perf_counter(), time.process_time()
    fitted = method.fit(ready.data.training_set, lambda _: None, None)
    learned, worked = time.perf_counter(), time.process_time() - worked
    test = ready.test
    judged = method.predict_new(test) if isinstance(test, Corpus) else method.predict(test)
    done = time.perf_counter()
    epochs = [row["seconds"] for row in fitted.history if "seconds" in row]
    best = fitted.history[fitted.best_epoch - 1] if fitted.best_epoch > 0 else {}
    return Outcome(
        seconds=Seconds(
            prepare=ready.seconds,
            fit=learned - started,
            epoch=fmean(epochs) if epochs else None,
            predict=done - learned,
            processor=worked / len(fitted.history) if epochs else None,
        ),
        epochs=len(fitted.history),
        best_epoch=fitted.best_epoch,
        validation=ValidationFigures(
            accuracy=_finite(best, "validation_accuracy"),
            macro_f1=_finite(best, "validation_f1"),
            loss=_finite(best, "validation_loss"),
        ),
        test=figures(ready.truth, judged),
        classes=len(ready.data.classes),
        messages=ready.sizes,
        tested=ready.tested,
        truth=ready.truth.tolist(),
        predicted=judged.scored_as.tolist(),
        # digits that count, not decimals: a sure message's uncertainty may be 1e-9, and still ranks
        uncertainty=[float(f"{each:.6g}") for each in judged.uncertainty],
    )


def figures(truth: Ints, judged: Prediction) -> Figures:
    """Score a prediction of test messages whose true classes are known; the undecided are wrong."""
    predicted = judged.scored_as
    wrong = predicted != truth
    found = score(truth, predicted)
    return Figures(
        accuracy=found.accuracy,
        macro_f1=found.macro_f1,
        nmi=found.nmi,
        ami=found.ami,
        ari=found.ari,
        auroc=error_auroc(wrong, judged.uncertainty),
        uncertainty_right=_mean(judged.uncertainty[~wrong]),
        uncertainty_wrong=_mean(judged.uncertainty[wrong]),
    )


def _row(
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
        note=variant.note or method_note(variant.method, job.settings),
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
    )


def method_note(method: str, settings: Mapping[str, Any]) -> str:
    """Return what must be said beside a method's figures, given the settings of the run.

    >>> from eventide.settings import resolve
    >>> method_note("kpgnn", resolve({"graph.sampled_neighbours": 8}).model_dump())
    'at most 8 sampled neighbours a message'
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
