"""The trained models that figures look at: each method is trained once per seed.

Messages, splits, preparation and the names of methods are those of `eventide compare`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eventide.arrays import unit_rows
from eventide.errors import BadSetting
from eventide.experiments import Material, Results, Step, Variant, choose, compare, read_material
from eventide.experiments.jobs import ExperimentPlan, check_request, check_runs_folder
from eventide.experiments.prepared import Prepared, Workshop
from eventide.experiments.splitting import Small, copies, divided
from eventide.features.encoders import DEFAULT_ENCODER
from eventide.methods import METHODS
from eventide.methods.method import Method, Prediction
from eventide.methods.trained import TrainedMethod
from eventide.scoring.class_groups import ClassGroups, class_groups

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
GROUPED_BY = "ucl-ec"
"""The method whose training class uncertainty sorts the classes into groups, for every method."""
CHECKED = ("seeds", "split", "preset", "encoder", "changes", "kept", "workers")
"""Options of `Runs` that `check_runs` looks at."""


def check_runs(
    variants: Sequence[Variant],
    seeds: Sequence[int],
    *,
    kept: Path | None = None,
    **options: Any,
) -> None:
    """Refuse what nothing can be trained with, before anything is read; see `check_request`."""
    protocol = check_request(variants or choose(GROUPED_BY).variants, seeds, **options)
    if protocol != "transductive":
        raise BadSetting(
            f"figures look at messages inside the graph; a {options['split']} split keeps some out",
            next_step="choose --split random, proportional, duplicate-aware or stored",
        )
    if kept is not None:
        check_runs_folder(kept)


@dataclass(frozen=True)
class FittedRun:
    """One method trained on one split, and what it makes of "train", "val" or "test" messages."""

    name: str
    method: Method
    prepared: Prepared

    @property
    def classes(self) -> list[str]:
        """The events trained on, in the order of their numbers."""
        return [str(event) for event in self.prepared.data.classes]

    def truth(self, part: str) -> Ints:
        """Return the class of each message of a part; an event not trained on has a number >= C."""
        training_set = self.prepared.data.training_set
        if part == "train":
            return training_set.labels[training_set.training_rows]
        return training_set.validation.labels if part == "val" else self.prepared.truth

    def predict(self, part: str) -> Prediction:
        """Judge the messages of a part."""
        return self.method.predict(self._rows(part))

    def embeddings(self, part: str, view: str) -> Floats:
        """Return what the network makes of a part's messages in one view [n, d], as unit rows."""
        if not isinstance(self.method, TrainedMethod):
            raise BadSetting(
                f"{self.name} has no network whose embeddings could be shown",
                next_step="choose methods that train one, e.g. --methods ce,ucl-ec",
            )
        outputs = self.method.runner.evaluate(self._rows(part))
        if view not in outputs:
            raise BadSetting(
                f"{self.name} has no view {view!r}",
                next_step=f"choose one of {', '.join(outputs)}",
            )
        return unit_rows(outputs[view].embeddings.double().cpu().numpy())

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

    def class_error(self, part: str) -> Floats:
        """Share of each class's messages of a part that are predicted wrongly [C]."""
        truth = self.truth(part)
        return self.class_means(self.predict(part).scored_as != truth, truth)

    def _rows(self, part: str) -> Ints:
        training_set = self.prepared.data.training_set
        rows = {"train": training_set.training_rows, "val": training_set.validation.rows}
        found = rows.get(part, self.prepared.test)
        assert isinstance(found, np.ndarray)  # transductive: every message is in the graph
        return found


@dataclass
class Runs:
    """What a figure may ask for: messages split by seed, and methods trained on them.

    ``changes`` are settings by dotted name. Figures that need many runs keep them in ``kept`` (by
    default the folder of `eventide compare`), and use ``workers`` processes. ``watch`` is told
    what is being done.
    """

    material: Material
    methods: Sequence[Variant] = ()
    seeds: Sequence[int] = (0,)
    view: str = "entity"
    split: str = "random"
    encoder: str = DEFAULT_ENCODER
    preset: str = "default"
    changes: Mapping[str, Any] = field(default_factory=dict)
    kept: Path | None = None
    workers: int | None = None
    watch: Callable[[str], None] = lambda _: None
    _fitted: dict[tuple[str, int], FittedRun] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        check_runs(
            self.methods,
            self.seeds,
            split=self.split,
            preset=self.preset,
            encoder=self.encoder,
            changes=self.changes,
            workers=self.workers,
        )

    @classmethod
    def of(
        cls,
        source: Any,
        methods: Sequence[str] = (),
        *,
        columns: Mapping[str, str] | None = None,
        data: str | None = None,
        **options: Any,
    ) -> Runs:
        """Read messages, and find methods by the names that `eventide compare` knows.

        Everything else is checked first. ``data`` is what titles call the messages.
        """
        variants = choose(",".join(methods)).variants if methods else ()
        checked = {"seeds": (0,)} | {key: options[key] for key in CHECKED if key in options}
        check_runs(variants, **checked)
        material = read_material(source, variants, columns=columns, name=data)
        return cls(material, variants, **options)

    @property
    def name(self) -> str:
        """What the data are called in titles."""
        return self.material.name

    @property
    def folder(self) -> Path:
        """Where finished runs are kept."""
        return self.kept or Path(f"comparison-{self.name}")

    @property
    def seed(self) -> int:
        """The first seed: that of figures which show one split."""
        return self.seeds[0]

    @property
    def method_names(self) -> tuple[str, ...]:
        """What the methods are called."""
        return tuple(each.name for each in self.methods)

    @cached_property
    def workshop(self) -> Workshop:
        """What prepares messages for training, once per seed and set of views."""
        plan = ExperimentPlan(
            dataset=self.material.name,
            fingerprint=self.material.fingerprint,
            split=self.split,
            protocol="transductive",
            encoder=self.encoder,
            entities=self.material.entities,
            preset=self.preset,
            changes=dict(self.changes),
        )
        return Workshop(self.material.messages, plan, copies(self.material.messages, self.split))

    def messages(self, small: Small = "error") -> pl.DataFrame:
        """Return the messages with the split of the first seed; see `divided` for ``small``."""
        together = copies(self.material.messages, self.split)
        return divided(self.material.messages, self.split, self.seed, together, small)

    def run(self, variant: Variant, seed: int | None = None) -> FittedRun:
        """Return a trained method; the second time it is there already."""
        key = variant.name, self.seed if seed is None else seed
        if key not in self._fitted:
            self.watch(f"training {variant.name}, seed {key[1]}")
            method, prepared = self.prepared(variant, key[1])
            method.fit(prepared.data.training_set, lambda _: None, None)
            self._fitted[key] = FittedRun(variant.name, method, prepared)
        return self._fitted[key]

    def prepared(self, variant: Variant, seed: int) -> tuple[Method, Prepared]:
        """Return a method that has not learned yet, and what it is to learn from."""
        settings = variant.settings(self.preset, self.changes)
        prepared = self.workshop.prepared(seed, variant.graph_views(), settings.graph)
        method: Method = METHODS.load(variant.method)(settings, seed)
        return method, prepared

    def compared(self, variants: Sequence[Variant]) -> Results:
        """Run variants with every seed in worker processes; finished runs are kept."""
        return compare(
            self.material,
            variants,
            self.seeds,
            out=self.folder,
            split=self.split,
            preset=self.preset,
            encoder=self.encoder,
            changes=self.changes,
            workers=self.workers,
            watch=lambda step: self.watch(_progress(step)),
        )

    def grouping_run(self, seed: int | None = None) -> FittedRun:
        """Return the run whose class uncertainty sorts the classes of a split."""
        return self.run(choose(GROUPED_BY).variants[0], seed)

    def groups(self, seed: int | None = None) -> ClassGroups:
        """Sort the classes of a split into certain, middle and uncertain, once for every method.

        The classes are numbers, as in ``FittedRun.truth``.
        """
        run = self.grouping_run(seed)
        return class_groups(range(len(run.classes)), run.class_uncertainty())


def _progress(step: Step) -> str:
    ended = "" if step.run is None else f": {step.run.variant}, seed {step.run.seed}"
    return f"{step.done} of {step.total} runs{ended}"
