"""What is compared: a variant is a method with changes; ablations, controls and parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations, product
from typing import Any

from eventide.graphs.views import PAPER_VIEWS, USER, View
from eventide.losses import MARGINS, PROTOTYPES
from eventide.losses.settings import ABLATIONS, ablation_changes
from eventide.methods import DEFAULT_METHOD, METHODS
from eventide.methods.tuned import method_settings
from eventide.opinions import FUSIONS
from eventide.settings import Settings, descriptions


@dataclass(frozen=True)
class Variant:
    """A registered method under a name of its own.

    ``changes`` are settings by dotted name; ``views`` maps a view's name to its columns (the
    paper's three where it is None); ``note`` goes into every table.

    >>> Variant("ucl+cb", "ucl", {"loss.class_balanced": True}).missing()
    """

    name: str
    method: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    views: Mapping[str, tuple[str, ...]] | None = None
    note: str = ""

    def missing(self) -> str | None:
        """Say why this variant cannot run in this version; None if it can.

        >>> Variant("x", "ucl", {"loss.magic": 1}).missing()
        "there is no setting 'loss.magic'"
        """
        if self.method not in METHODS:
            return f"no method is called {self.method!r}"
        unknown = [name for name in self.changes if name not in descriptions()]
        return f"there is no setting {unknown[0]!r}" if unknown else None

    def settings(self, preset_name: str, changes: Mapping[str, Any]) -> Settings:
        """Return the settings it runs with; its own changes win over ``changes`` for all."""
        return method_settings(self.method, preset_name, changes, self.changes)

    def graph_views(self) -> tuple[View, ...]:
        """Return the views it reads."""
        if self.views is None:
            return PAPER_VIEWS
        return tuple(View(name, tuple(columns)) for name, columns in self.views.items())


METHOD_OF = {"learned": "ucl", "centroids": "ucl-ec"}
BALANCED = "+cb"


def named(ablation: str, prototypes: str) -> Variant:
    """Return one named row, or with centroids its EC twin; a method's own name is that method.

    >>> named("psc+m", "centroids").name, named("ucl", "centroids").changes
    ('psc-ec+m', {})
    """
    name = ablation
    if prototypes == "centroids":
        name = f"{ablation[:3]}-ec{ablation[3:]}"
    if name in METHODS:
        return Variant(name, name)
    return Variant(name, METHOD_OF[prototypes], ablation_changes(ablation))


def named_rows() -> tuple[Variant, ...]:
    """Return every named row: the paper's ten, and those with other margins and +CB."""
    return tuple(named(name, kind) for kind in METHOD_OF for name in ABLATIONS)


def grid() -> tuple[Variant, ...]:
    """Return every margin with every prototype source, with and without EUC and +CB.

    >>> len(grid()), grid()[0].name, grid()[-1].name
    (40, 'none/learned', 'frequency/centroids/euc/cb')
    """
    found = []
    for margin, kind, euc, balanced in product(
        MARGINS.names(), METHOD_OF, (False, True), (False, True)
    ):
        changes: dict[str, Any] = {
            "loss.margin": margin,
            "loss.calibration": "euc" if euc else "none",
        }
        name = "/".join([margin, kind, *["euc"] * euc, *["cb"] * balanced])
        found.append(Variant(name, METHOD_OF[kind] + BALANCED * balanced, changes))
    return tuple(found)


WHOLE = named("ucl", "centroids")


def controls() -> tuple[Variant, ...]:
    """Return the whole method, then each view alone, each pair, and what replaces the graph.

    >>> [each.name for each in controls()][:3]
    ['ucl-ec', 'ucl-ec/hashtag', 'ucl-ec/entity']
    """
    columns = {view.name: view.columns for view in PAPER_VIEWS}
    found = [WHOLE]
    for count in (1, 2):
        for names in combinations(columns, count):
            views = {name: columns[name] for name in names}
            found.append(replace(WHOLE, name=f"{WHOLE.name}/{'+'.join(names)}", views=views))
    # No two messages share an id, so every message is its only neighbour, known or new.
    alone = dict.fromkeys(columns, ("id",))
    author = columns | {USER.name: (*USER.columns, "user")}
    return (
        *found,
        replace(WHOLE, name=f"{WHOLE.name}/no-graph", views=alone),
        replace(
            WHOLE,
            name=f"{WHOLE.name}/no-time",
            changes={**WHOLE.changes, "network.time_decay": "none"},
        ),
        replace(WHOLE, name=f"{WHOLE.name}/author", views=author),
    )


PARTS: Mapping[str, Mapping[str, Any]] = {
    "cosine-heads": {"network.classifier": "cosine", "network.cosine_scale": 15.0},
    "evidence-as-printed": {"network.evidence_unit": "one"},
    "no-prior": {"loss.prior_adjustment": 0.0},
    "no-margin": {"loss.margin": "none"},
    "uncertainty-margin": {"loss.margin": "uncertainty"},
    "soft-contrast": {"loss.temperature": 1.0, "loss.contrastive_weight": 0.1},
    "full-contrast": {"loss.contrastive_weight": 1.0},
    "no-calibration": {"loss.calibration": "none"},
    "free-decay": {"network.time_decay": "free"},
    "fast-decay": {"network.initial_rate": 0.6931},
    "no-dropout": {"network.dropout": 0.0},
    "no-weight-decay": {"training.weight_decay": 0.0},
    "steady-start": {"training.fast_start": 1.0},
    "shares-of-labels": {"training.estimated_shares": False},
    "network-alone": {"training.pooled_experts": False},
}
"""The default method without one of its parts each."""


def without_parts() -> tuple[Variant, ...]:
    """Return the default method, then with one of its parts taken away or changed.

    >>> [each.name for each in without_parts()][:2]
    ['ucl-sharp', 'ucl-sharp/cosine-heads']
    """
    return (
        Variant(DEFAULT_METHOD, DEFAULT_METHOD),
        *(
            Variant(f"{DEFAULT_METHOD}/{name}", DEFAULT_METHOD, dict(changes))
            for name, changes in PARTS.items()
        ),
    )


POOLED = ("ucl-ec", "ce", "ldam-drw", "logit-adjustment", "lr-encoder")
"""Methods that the group `experts` gives the default method's pool of experts."""


def pooled() -> tuple[Variant, ...]:
    """Return the default method, its network alone, and others with its pool of experts.

    >>> [each.name for each in pooled()][:3]
    ['ucl-sharp', 'ucl-sharp/network-alone', 'ucl-ec/experts']
    """
    alone = f"{DEFAULT_METHOD}/network-alone"
    return (
        *(each for each in without_parts() if each.name in (DEFAULT_METHOD, alone)),
        *(Variant(f"{name}/experts", name, {"training.pooled_experts": True}) for name in POOLED),
    )


def fusions() -> tuple[Variant, ...]:
    """Return the default method with every rule that fuses views.

    >>> fusions()[0].changes
    {'loss.fusion': 'dempster'}
    """
    return tuple(
        Variant(f"{DEFAULT_METHOD}/{rule}", DEFAULT_METHOD, {"loss.fusion": rule})
        for rule in FUSIONS.names()
    )


def prototype_sources() -> tuple[Variant, ...]:
    """Return the default method with every source of prototypes.

    >>> prototype_sources()[-1].changes
    {'loss.prototypes': 'classifier', 'network.classifier': 'prototypes'}
    """
    deciding = {"classifier": {"network.classifier": "prototypes"}}
    return tuple(
        Variant(
            f"{DEFAULT_METHOD}/{source}",
            DEFAULT_METHOD,
            {"loss.prototypes": source, **deciding.get(source, {})},
        )
        for source in PROTOTYPES.names()
    )
