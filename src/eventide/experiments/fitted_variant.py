"""A variant fitted on the split of one seed: its predictions, embeddings and errors by class."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eventide.arrays import unit_rows
from eventide.corpus.corpus import Ints
from eventide.errors import BadSetting
from eventide.experiments.prepared import SeedSplit, class_indices
from eventide.experiments.variants import Variant
from eventide.methods.method import Prediction
from eventide.methods.trained import TrainedMethod
from eventide.model.fitted import FittedMethod
from eventide.opinions.calibration import ProbabilityCalibration
from eventide.settings import Settings

Floats = NDArray[np.float64]
SplitPart: TypeAlias = Literal["train", "val", "test"]


class FittedRun(ABC):
    """What figures ask of a fitted method: predictions, embeddings and errors by class.

    A part is "train", "val" or "test".
    """

    name: str

    @property
    @abstractmethod
    def classes(self) -> list[str]:
        """The events trained on, in the order of their indices."""

    @property
    @abstractmethod
    def class_counts(self) -> Ints:
        """How many training messages each class has [C]."""

    @abstractmethod
    def truth(self, part: SplitPart) -> Ints:
        """Return the class of each message of a part; an event not trained on has an index >= C."""

    @abstractmethod
    def predict(self, part: SplitPart) -> Prediction:
        """Predict the messages of a part, which show no label."""

    @abstractmethod
    def uncalibrated(self, part: SplitPart) -> Prediction:
        """Predict the messages of a part with the probabilities that the method gives."""

    @property
    @abstractmethod
    def calibration(self) -> ProbabilityCalibration:
        """How probabilities are calibrated."""

    @property
    @abstractmethod
    def validating(self) -> int:
        """How many validation messages there were to calibrate on."""

    @abstractmethod
    def view_embeddings(self, part: SplitPart) -> dict[str, Floats]:
        """Return what the network makes of a part's messages in each view [n, d]."""

    @abstractmethod
    def trains_network(self) -> bool:
        """Whether there is a network that embeds messages."""

    def embeddings(self, part: SplitPart, view: str) -> Floats:
        """Return what the network makes of a part's messages in one view [n, d], as unit rows."""
        if not self.trains_network():
            raise BadSetting(
                f"{self.name} has no network whose embeddings could be shown",
                next_step="choose methods that train one, e.g. --methods ce,ucl-ec",
            )
        found = self.view_embeddings(part)
        if view not in found:
            raise BadSetting(
                f"{self.name} has no view {view!r}",
                next_step=f"choose one of {', '.join(found)}",
            )
        return unit_rows(found[view])

    def class_means(self, values: NDArray[Any], truth: Ints) -> Floats:
        """Average one value per message within each class [C]; NaN for a class without any."""
        classes = len(self.classes)
        counts = np.bincount(truth, minlength=classes)[:classes]
        totals = np.bincount(truth, weights=values, minlength=classes)[:classes]
        means: Floats = np.full(classes, np.nan)
        np.divide(totals, counts, out=means, where=counts > 0)
        return means

    def class_uncertainty(self) -> Floats:
        """Mean uncertainty of the training messages of each class [C]."""
        return self.class_means(self.predict("train").uncertainty, self.truth("train"))

    def class_error(self, part: SplitPart) -> Floats:
        """Share of each class's messages of a part that are predicted wrongly [C]."""
        truth = self.truth(part)
        return self.class_means(self.predict(part).scored_as != truth, truth)


@dataclass(frozen=True)
class FittedVariant(FittedRun):
    """One variant fitted on one split, and what it makes of "train", "val" or "test" messages."""

    name: str
    fitted: FittedMethod
    split: SeedSplit

    @classmethod
    def fit(cls, variant: Variant, settings: Settings, split: SeedSplit) -> FittedVariant:
        """Fit a variant with these settings on a split."""
        return cls(variant.name, split.fit(variant, settings), split)

    @property
    def classes(self) -> list[str]:
        """The events trained on, in the order of their indices."""
        return [str(event) for event in self.fitted.data.classes]

    @property
    def class_counts(self) -> Ints:
        """How many training messages each class has [C]."""
        return self.fitted.data.training_set.class_counts

    def messages(self, part: SplitPart) -> pl.DataFrame:
        """Return the labelled messages of a part; validation ones of known events alone."""
        if part == "test":
            return self.split.test
        of_part = self.split.messages.filter(pl.col("split") == part)
        return of_part.filter(pl.col("event").is_in(self.classes))

    def truth(self, part: SplitPart) -> Ints:
        """Return the class of each message of a part; an event not trained on has an index >= C."""
        return class_indices(self.messages(part)["event"].to_list(), self.classes)

    def predict(self, part: SplitPart) -> Prediction:
        """Predict the messages of a part, which show no label."""
        return self.fitted.predict(self._unlabelled(part))

    def uncalibrated(self, part: SplitPart) -> Prediction:
        """Predict the messages of a part with the probabilities that the method gives."""
        messages, inference = self._unlabelled(part), self.fitted.inference
        return inference.uncalibrated(messages, inference.match(messages))

    @property
    def calibration(self) -> ProbabilityCalibration:
        """How probabilities are calibrated."""
        return self.fitted.calibration

    @property
    def validating(self) -> int:
        """How many validation messages there were to calibrate on."""
        return len(self.fitted.validation)

    def view_embeddings(self, part: SplitPart) -> dict[str, Floats]:
        """Return what the network makes of a part's messages in each view [n, d]."""
        messages, inference = self._unlabelled(part), self.fitted.inference
        return inference.embeddings(inference.match(messages), messages)

    def trains_network(self) -> bool:
        """Whether there is a network that embeds messages."""
        return isinstance(self.fitted.method, TrainedMethod)

    def _unlabelled(self, part: SplitPart) -> pl.DataFrame:
        return self.messages(part).with_columns(event=pl.lit(None, pl.String))
