"""One model that is trained already, as figures ask for it: nothing is trained or split."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eventide.data.split_draws import Small
from eventide.errors import InputError
from eventide.experiments import Variant
from eventide.experiments.fitted_variant import FittedRun, SplitPart
from eventide.experiments.prepared import class_indices
from eventide.graphs.keys import KeyIndex
from eventide.methods.method import Prediction
from eventide.methods.trained import TrainedMethod
from eventide.model import EventClassifier
from eventide.model.evaluated_rows import rows_to_evaluate
from eventide.model.inference import MemoryMatch
from eventide.opinions.calibration import ProbabilityCalibration
from eventide.reports.figures.trained_runs import Runs

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ModelPart:
    """Messages of a part: where the memory holds them, their classes, and themselves where new."""

    match: MemoryMatch
    truth: Ints
    frame: pl.DataFrame | None = None


@dataclass(frozen=True)
class ModelRun(FittedRun):
    """A model and the messages it is looked at with; "val" and "test" are the same here."""

    name: str
    model: EventClassifier
    parts: Mapping[str, ModelPart]

    @property
    def classes(self) -> list[str]:
        """The events trained on, in the order of their indices."""
        return [str(each) for each in self.model.class_names]

    @property
    def class_counts(self) -> Ints:
        """How many training messages each class has [C]."""
        counts: Ints = np.bincount(self.parts["train"].truth, minlength=len(self.model.classes_))
        return counts

    def truth(self, part: SplitPart) -> Ints:
        """Return the class of each message of a part; an event not trained on has an index >= C."""
        return self.parts[part].truth

    def predict(self, part: SplitPart) -> Prediction:
        """Predict the messages of a part."""
        return self.uncalibrated(part).calibrated(self.calibration)

    def uncalibrated(self, part: SplitPart) -> Prediction:
        """Predict the messages of a part with the probabilities that the method gives."""
        own = self.parts[part]
        if own.frame is None:
            return self.model.inference.predict_rows(own.match.rows)
        return self.model.inference.uncalibrated(own.frame, own.match)

    @property
    def calibration(self) -> ProbabilityCalibration:
        """How probabilities are calibrated."""
        return self.model.calibration_

    @property
    def validating(self) -> int:
        """How many validation messages there were to calibrate on."""
        return 0 if self.model.validation_ is None else len(self.model.validation_)

    def view_embeddings(self, part: SplitPart) -> dict[str, Floats]:
        """Return what the network makes of a part's messages in each view [n, d]."""
        own = self.parts[part]
        return self.model.inference.embeddings(own.match, own.frame)

    def trains_network(self) -> bool:
        """Whether there is a network that embeds messages."""
        return isinstance(self.model.method_, TrainedMethod)


class ModelRuns(Runs):
    """What figures ask of `Runs`, answered by one model."""

    def __init__(self, run: ModelRun, name: str, what: str, view: str) -> None:
        self.run, self.title, self.what = run, name, what
        self.methods = (Variant(run.name, run.model.method),)
        self.seeds, self.view = (run.model.seed,), view

    @classmethod
    def of_model(
        cls,
        model: EventClassifier,
        messages: Any = None,
        *,
        view: str | None = None,
        data: str = "",
    ) -> ModelRuns:
        """Take labelled messages as `eventide evaluate` does, else the validation messages."""
        model.check_fitted()
        rows = np.flatnonzero(model.labels_ >= 0)
        trained = ModelPart(MemoryMatch.remembered(model.memory_, rows), model.labels_[rows])
        if messages is None:
            own, what = _validation(model), "validation messages"
        else:
            own, what = _given(model, messages)
        parts = {"train": trained, "val": own, "test": own}
        views = [each.name for each in model.featuriser_.views]
        chosen = view or ("entity" if "entity" in views else views[0])
        name = data or "a trained model"
        return cls(ModelRun(model.method, model, parts), f"{name}, {what}", what, chosen)

    @property
    def name(self) -> str:
        """What the data are called in titles."""
        return self.title

    def part_name(self, part: SplitPart) -> str:
        """Name the messages of a part in a title."""
        return "training messages" if part == "train" else self.what

    def messages(self, small: Small = "error") -> pl.DataFrame:
        """Return event and split of the training messages, and of those that are looked at."""
        classes = np.array(self.run.classes)
        found = []
        held = "val" if self.what == "validation messages" else "test"
        for part, split in (("train", "train"), ("test", held)):
            truth = self.run.parts[part].truth
            found.append(
                pl.DataFrame(
                    {"event": classes[truth[truth < len(classes)]]}, schema={"event": pl.String}
                ).with_columns(split=pl.lit(split))
            )
        return pl.concat(found)

    def fitted(self, variant: Variant, seed: int | None = None) -> FittedRun:
        """Return the model, whatever is asked for."""
        return self.run

    def grouping_run(self, seed: int | None = None) -> FittedRun:
        """Return the model: its own class uncertainty sorts its classes."""
        return self.run


def _validation(model: EventClassifier) -> ModelPart:
    """Find the validation messages in the memory, where the transductive protocol puts them."""
    kept, held = model.validation_, model.validated_
    if kept is not None and held is not None and len(kept) and len(kept) == len(held):
        rows = KeyIndex(model.memory_.ids).find(held.ids)
        if (rows >= 0).all():
            return ModelPart(MemoryMatch.remembered(model.memory_, rows), kept.truth)
    raise InputError(
        "the model remembers no validation messages that a figure could show",
        next_step="give labelled messages too: eventide figure NAME --model MODEL FILE",
    )


def _given(model: EventClassifier, messages: Any) -> tuple[ModelPart, str]:
    intake = model.intake(messages, allow_rejected=True)
    labelled = intake.messages.filter(pl.col("event").is_not_null())
    if not len(labelled):
        raise InputError(
            f"none of {len(intake.messages):,} messages has an event",
            where=f"column event of {intake.where}",
            next_step="give labelled messages, or none: then validation messages are shown",
        )
    rows, mask, standing = rows_to_evaluate(model, labelled)
    frame = labelled.filter(pl.Series(mask))
    names = [str(each) for each in model.class_names]
    truth = class_indices(frame["event"].to_list(), names)
    what = "validation messages" if rows == "val" else f"{rows} messages"
    return ModelPart(standing.take(mask).match, truth, frame), what
