"""The trained models behind figures and claims: each method is trained once per seed.

Messages, splits, preparation and the names of methods are those of `eventide compare`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from eventide.data.split_draws import Small
from eventide.data.splits import SPLITS, split_name
from eventide.errors import BadSetting
from eventide.experiments import (
    ExperimentData,
    Results,
    Step,
    Variant,
    choose,
    compare,
    read_experiment_data,
)
from eventide.experiments.fitted_variant import FittedRun, FittedVariant, SplitPart
from eventide.experiments.jobs import ExperimentPlan, check_request, check_runs_folder
from eventide.experiments.prepared import SplitMessages
from eventide.experiments.regimes import regime as find_regime
from eventide.features.encoders import DEFAULT_ENCODER
from eventide.scoring.class_groups import ClassGroups, class_groups

GROUPED_BY = "ucl-ec"
"""The method whose training class uncertainty sorts the classes into groups, for every method."""
CHECKED = ("seeds", "split", "protocol", "preset", "encoder", "changes", "kept", "workers")
"""Options of `Runs` that `check_runs` checks."""


def check_runs(
    variants: Sequence[Variant],
    seeds: Sequence[int],
    *,
    kept: Path | None = None,
    any_protocol: bool = False,
    **options: Any,
) -> str:
    """Refuse what nothing can be trained with, before anything is read; see `check_request`.

    Returns the protocol. Figures show messages inside the graph; claims take ``any_protocol``.
    """
    protocol = check_request(variants or choose(GROUPED_BY).variants, seeds, **options)
    if protocol != "transductive" and not any_protocol:
        usable = [name for name, each in SPLITS.items() if not each.inductive]
        raise BadSetting(
            f"figures show messages inside the graph; a {options['split']} split keeps some out",
            next_step=f"choose --split {' or '.join(usable)}",
        )
    if kept is not None:
        check_runs_folder(kept)
    return protocol


def regime_options(name: str, encoder: str = DEFAULT_ENCODER) -> dict[str, Any]:
    """Return the options of `Runs` for a regime, whose own encoder wins over ``encoder``.

    >>> regime_options("weak-vectors")["encoder"]
    'tfidf-svd:16'
    """
    chosen = find_regime(name)
    if chosen.in_turn:
        raise BadSetting(
            f"{name} has no one split: every event takes its turn there",
            next_step="choose another regime, or compare methods: eventide compare --regimes",
        )
    # Every regime is inductive: tested messages are new.
    return {"regime": name, "protocol": "inductive", "encoder": chosen.encoder or encoder}


@dataclass
class Runs:
    """What a figure may ask for: messages split by seed, and methods trained on them.

    With a ``regime`` it decides the split, and ``protocol`` and ``encoder`` are the regime's own;
    without a ``protocol`` it is that of the split. ``changes`` are settings by dotted name. Figures
    that need many runs keep them in ``kept`` (by default the folder of `eventide compare`), and use
    ``workers`` processes. ``watch`` is told what is being done.
    """

    data: ExperimentData
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
    protocol: str | None = None
    regime: str = ""
    _messages: SplitMessages = field(init=False, repr=False)
    _fitted: dict[tuple[str, int], FittedVariant] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.split = split_name(self.split)
        self.protocol = check_runs(
            self.methods,
            self.seeds,
            any_protocol=True,
            split=self.split,
            protocol=self.protocol,
            preset=self.preset,
            encoder=self.encoder,
            changes=self.changes,
            workers=self.workers,
        )
        plan = ExperimentPlan(
            dataset=self.data.name,
            fingerprint=self.data.fingerprint,
            split="locked" if self.regime else self.split,
            protocol=self.protocol,
            encoder=self.encoder,
            entities=self.data.entities,
            preset=self.preset,
            changes=dict(self.changes),
            regime=self.regime,
            lock=self.data.lock.name if self.regime else "",
        )
        self._messages = SplitMessages.of_data(self.data, plan)
        self._fitted = {}

    @classmethod
    def of(
        cls,
        source: Any,
        methods: Sequence[str] = (),
        *,
        columns: Mapping[str, str] | None = None,
        data_name: str | None = None,
        **options: Any,
    ) -> Runs:
        """Read messages, and find methods by the names that `eventide compare` knows.

        Everything else is checked first. ``data_name`` is what titles call the messages.
        """
        variants = choose(",".join(methods)).variants if methods else ()
        checked = {"seeds": (0,)} | {key: options[key] for key in CHECKED if key in options}
        check_runs(variants, any_protocol=bool(options.get("regime")), **checked)
        data = read_experiment_data(source, variants, columns=columns, name=data_name)
        return cls(data, variants, **options)

    @property
    def name(self) -> str:
        """What the data are called in titles."""
        return f"{self.data.name}, {self.regime}" if self.regime else self.data.name

    @property
    def folder(self) -> Path:
        """Where finished runs are kept."""
        return self.kept or Path(f"comparison-{self.data.name}")

    @property
    def seed(self) -> int:
        """The first seed: that of figures which show one split."""
        return self.seeds[0]

    @property
    def method_names(self) -> tuple[str, ...]:
        """What the methods are called."""
        return tuple(each.name for each in self.methods)

    def part_name(self, part: SplitPart) -> str:
        """Name the messages of a part in a title."""
        tested = "locked messages" if self.regime else "test messages"
        return {"train": "training messages", "val": "validation messages"}.get(part, tested)

    def messages(self, small: Small = "error") -> pl.DataFrame:
        """Return the messages with the first seed's split; see `split_messages` for ``small``."""
        return self._messages.frame(self.seed, small)

    def fitted(self, variant: Variant, seed: int | None = None) -> FittedRun:
        """Return a fitted variant; the second time it is there already."""
        key = variant.name, self.seed if seed is None else seed
        return self._fitted[key] if key in self._fitted else self.fit(variant, seed)

    def fit(self, variant: Variant, seed: int | None = None) -> FittedVariant:
        """Fit a variant anew, and keep it."""
        seed = self.seed if seed is None else seed
        self.watch(f"training {variant.name}, seed {seed}")
        settings = variant.settings(self.preset, self.changes)
        fitted = FittedVariant.fit(variant, settings, self._messages.of(seed))
        self._fitted[variant.name, seed] = fitted
        return fitted

    def showing(self, *variants: Variant) -> Runs:
        """Return the same runs with other methods to show; what is fitted is shared."""
        other = copy(self)
        other.methods = variants
        return other

    def compared(self, variants: Sequence[Variant]) -> Results:
        """Run variants with every seed in worker processes; finished runs are kept."""
        return compare(
            self.data,
            variants,
            self.seeds,
            out=self.folder,
            split=self.split,
            protocol=self.protocol,
            regime=self.regime,
            preset=self.preset,
            encoder=self.encoder,
            changes=self.changes,
            workers=self.workers,
            watch=lambda step: self.watch(_progress(step)),
        )

    def grouping_run(self, seed: int | None = None) -> FittedRun:
        """Return the run whose class uncertainty sorts the classes of a split."""
        return self.fitted(choose(GROUPED_BY).variants[0], seed)

    def groups(self, seed: int | None = None) -> ClassGroups:
        """Sort the classes of a split into certain, middle and uncertain, once for every method.

        The classes are indices, as in ``FittedVariant.truth``.
        """
        run = self.grouping_run(seed)
        return class_groups(range(len(run.classes)), run.class_uncertainty())


def _progress(step: Step) -> str:
    ended = "" if step.run is None else f": {step.run.variant}, seed {step.run.seed}"
    return f"{step.done} of {step.total} runs{ended}"
