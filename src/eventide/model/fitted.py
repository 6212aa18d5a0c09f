"""Prepare, fit and predict: the one path that the classifier, experiments and figures all take."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from eventide.corpus.training_set import PreparedData, prepare_data
from eventide.features.encoders import Encoder
from eventide.graphs.settings import GraphSettings
from eventide.graphs.views import View
from eventide.methods import METHODS
from eventide.methods.method import Method, Prediction, check_balance
from eventide.model.adviser import Adviser, fit_adviser
from eventide.model.inference import Inference
from eventide.model.validation_predictions import ValidationPredictions
from eventide.opinions.calibration import ProbabilityCalibration
from eventide.outputs import reserved
from eventide.runtime.share import current_share
from eventide.settings import Settings
from eventide.training.checkpoints import Checkpoints
from eventide.training.loop import TrainingRun, Watch


@dataclass(frozen=True)
class FitSeconds:
    """Wall-clock seconds to prepare and to fit, and the processor's seconds to fit."""

    prepare: float
    fit: float
    processor: float


@dataclass(frozen=True)
class FittedMethod:
    """A fitted method, the data it was prepared with, and how the training went."""

    data: PreparedData
    method: Method
    run: TrainingRun
    inference: Inference
    validation: ValidationPredictions
    seconds: FitSeconds
    adviser: Adviser | None = None
    """The pool of experts that decides events, where the settings ask for one."""

    @property
    def calibration(self) -> ProbabilityCalibration:
        """The calibration of its probabilities, fitted on the validation messages."""
        return self.inference.calibration

    def predict(self, messages: pl.DataFrame) -> Prediction:
        """Predict canonical messages (elements filled in), known and new ones."""
        return self.inference.predict(messages, self.inference.match(messages))


class PreparedCache:
    """Prepared data of one set of messages, kept for the next run with the same views and graph.

    Every call of `fit_method` with the same cache must give the same messages, encoder, protocol,
    seed, class order and salt.
    """

    def __init__(self) -> None:
        self._kept: dict[tuple[tuple[View, ...], str], tuple[PreparedData, float]] = {}

    def get(
        self, views: tuple[View, ...], graph: GraphSettings, prepare: Callable[[], PreparedData]
    ) -> tuple[PreparedData, float]:
        """Return the data and the seconds that it took to prepare, when it was prepared."""
        key = views, graph.model_dump_json()
        if key not in self._kept:
            started = time.perf_counter()
            data = prepare()
            self._kept[key] = data, time.perf_counter() - started
        return self._kept[key]


def fit_method(
    messages: pl.DataFrame,
    *,
    method: str,
    settings: Settings,
    encoder: Encoder,
    views: Sequence[View],
    protocol: str,
    seed: int,
    class_order: Callable[[str], Any] = str,
    salt: bytes | None = None,
    watch: Watch = lambda _: None,
    before_training: Callable[[PreparedData], Checkpoints | None] = lambda _: None,
    cache: PreparedCache | None = None,
) -> FittedMethod:
    """Prepare canonical ``messages`` (elements filled in) and train the method called ``method``.

    ``watch`` is called with each epoch's row of figures. ``before_training`` is called with the
    prepared data, and returns where the run's state is kept, or None. Runs that differ in method,
    settings or views alone can share a ``cache``.
    """

    def prepare() -> PreparedData:
        return prepare_data(
            messages,
            encoder=encoder,
            views=views,
            graph=settings.graph,
            inductive=protocol == "inductive",
            seed=seed,
            class_order=class_order,
            salt=salt,
        )

    kind: type[Method] = METHODS.load(method)
    check_balance(kind, settings)
    data, prepare_seconds = (cache or PreparedCache()).get(tuple(views), settings.graph, prepare)
    chosen = kind(settings, seed)
    checkpoints = before_training(data)
    started, worked = time.perf_counter(), time.process_time()
    writes = checkpoints is not None and current_share().first
    with reserved(checkpoints.path) if checkpoints and writes else nullcontext():
        run = chosen.fit(data.training_set, watch, checkpoints)
    adviser = fit_adviser(chosen, data.training_set) if settings.training.pooled_experts else None
    labels = data.training_set.validation.labels
    others = None if adviser is None else adviser.of_others(labels)
    wrong_labels = 0.0 if adviser is None else adviser.wrong_labels
    validation = ValidationPredictions.of(chosen, data.training_set, others, wrong_labels)
    calibration = validation.calibrate()
    if adviser is not None:
        run = replace(run, notes=(*run.notes, *adviser.notes(validation)))
    seconds = FitSeconds(
        prepare_seconds, time.perf_counter() - started, time.process_time() - worked
    )
    memory = data.training_set.corpus
    inference = Inference(data.featuriser, memory, chosen, calibration, adviser)
    kept = replace(validation, kind=calibration.kind)
    return FittedMethod(data, chosen, run, inference, kept, seconds, adviser)
