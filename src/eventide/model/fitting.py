"""Fitting a classifier: read, prepare, train, and only then replace what it was.

A fit that fails or is stopped leaves an older one as it was.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from eventide.corpus.training_set import PreparedData
from eventide.data import Intake
from eventide.data.columns import Columns
from eventide.features.encoders import encoder
from eventide.model.epoch_lines import epoch_lines, logger
from eventide.model.fitted import fit_method
from eventide.model.label_types import (
    Labels,
    as_given,
    column_kind,
    labels_of,
    settled_kind,
    sort_key,
)
from eventide.model.novelty_scores import NoveltyModel
from eventide.model.parameters import checked_views, whole_seed
from eventide.model.salt import made_or_read_salt
from eventide.model.signature import run_signature
from eventide.model.validation_ids import ValidationIds
from eventide.storage import expanded
from eventide.training.checkpoints import Checkpoints, Row, check_checkpoints
from eventide.training.loop import Watch

if TYPE_CHECKING:
    from eventide.model.classifier import EventClassifier

CLEAR = ("id", "text", "user")
"""What a model remembers in clear, and forgets when saved without ``keep_text``."""


def fit_classifier(
    model: EventClassifier,
    messages: Any,
    y: Any,
    *,
    allow_rejected: bool,
    verbose: bool | int,
    watch: Watch,
    checkpoints: Path | None,
    checkpoint_every: int,
    resume: bool,
    salt_file: str | Path | None,
) -> None:
    """Learn from messages; the arguments are those of `EventClassifier.fit`."""
    settings, seed = model.settings(), whole_seed(model.seed)
    if checkpoints is not None:
        check_checkpoints(checkpoints, resume=resume)
    with epoch_lines(verbose, settings.training.epochs) as tell:
        labels = None if y is None else labels_of(y)
        intake = model.intake(messages, labels, allow_rejected=allow_rejected, fitting=True)
        kind = _kind(model, messages, labels, intake.messages["event"])

        def before_training(data: PreparedData) -> Checkpoints | None:
            for note in data.notes:
                logger.log(logging.INFO if verbose else logging.DEBUG, "%s", note)
            if checkpoints is None:
                return None
            signature = run_signature(model, settings, intake.messages, data)
            return Checkpoints(expanded(checkpoints), signature, checkpoint_every, resume)

        def both(row: Row) -> None:
            tell(row)
            watch(row)

        fitted = fit_method(
            intake.messages,
            method=model.method,
            settings=settings,
            encoder=encoder(model.encoder),
            views=checked_views(model.views),
            protocol=model.protocol,
            seed=seed,
            class_order=sort_key(kind),
            salt=None if salt_file is None else made_or_read_salt(salt_file),
            watch=both,
            before_training=before_training,
        )
    data, run = fitted.data, fitted.run
    adviser = fitted.adviser
    if adviser is None:
        novelty = NoveltyModel.fit(data.training_set, fitted.method)
    else:
        novelty, model._reference = adviser.novelty, adviser.reference
    # Only now: a fit that fails or is stopped leaves an older one as it was.
    told = () if isinstance(messages, Intake) else intake.notes
    model.settings_, model.notes_ = (
        settings,
        (*told, *data.notes, *run.notes, fitted.calibration.note()),
    )
    model.rejected_, model.counts_ = intake.rejected, data.counts
    model.classes_ = as_given(data.classes.tolist(), kind)
    model.featuriser_, model.memory_ = data.featuriser, data.training_set.corpus
    model.labels_, model.validated_ = (
        data.training_set.labels,
        ValidationIds.of(data.training_set),
    )
    model.remembered_ = data.remembered.select(CLEAR)
    model.method_, model.novelty_ = fitted.method, novelty
    model.history_, model.best_epoch_ = run.history, run.best_epoch
    model.calibration_, model.validation_ = fitted.calibration, fitted.validation
    model._inference = fitted.inference


def _kind(model: EventClassifier, messages: Any, labels: Labels | None, events: pl.Series) -> str:
    """What labels come back as: y's type, or that of a frame's column."""
    if labels is not None:
        return labels.kind
    columns = Columns(dict(model.columns or {}), tuple(model.list_columns(fitting=True)))
    return settled_kind(column_kind(messages, columns), events.drop_nulls())
