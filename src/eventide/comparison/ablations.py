"""The paper's ablation rows and the whole grid behind them, as contestants."""

from __future__ import annotations

from itertools import product
from typing import Any, get_args

from eventide.comparison.contestant import Contestant
from eventide.losses.ablations import ABLATIONS, ablation_changes
from eventide.losses.settings import MarginName
from eventide.methods import METHODS

METHOD_OF = {"learned": "ucl", "centroids": "ucl-ec"}
BALANCED = "+cb"


def named(ablation: str, prototypes: str) -> Contestant:
    """Return one named row, or with centroids its EC twin; a method's own name is that method.

    >>> named("psc+m", "centroids").name, named("ucl", "centroids").changes
    ('psc-ec+m', {})
    """
    name = ablation
    if prototypes == "centroids":
        name = f"{ablation[:3]}-ec{ablation[3:]}"
    if name in METHODS:
        return Contestant(name, name)
    return Contestant(name, METHOD_OF[prototypes], ablation_changes(ablation))


def named_rows() -> tuple[Contestant, ...]:
    """Return every named row: the paper's ten, and those with other margins and +CB."""
    return tuple(named(name, kind) for kind in METHOD_OF for name in ABLATIONS)


def grid() -> tuple[Contestant, ...]:
    """Return every margin with every prototype source, with and without EUC and +CB.

    >>> len(grid()), grid()[0].name, grid()[-1].name
    (40, 'none/learned', 'frequency/centroids/euc/cb')
    """
    found = []
    for margin, kind, euc, balanced in product(
        get_args(MarginName), METHOD_OF, (False, True), (False, True)
    ):
        changes: dict[str, Any] = {
            "loss.margin": margin,
            "loss.calibration": "euc" if euc else "none",
        }
        name = "/".join([margin, kind, *["euc"] * euc, *["cb"] * balanced])
        found.append(Contestant(name, METHOD_OF[kind] + BALANCED * balanced, changes))
    return tuple(found)
