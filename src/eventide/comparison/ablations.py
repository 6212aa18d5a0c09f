"""The paper's ablation rows and the whole grid behind them, as contestants."""

from __future__ import annotations

from itertools import product
from typing import Any, get_args

from eventide.comparison.contestant import Contestant
from eventide.losses.ablations import ABLATIONS
from eventide.losses.settings import MarginName

METHOD_OF = {"learned": "ucl", "centroids": "ucl-ec"}


def named(ablation: str, prototypes: str) -> Contestant:
    """Return one named row, or with centroids its EC twin.

    >>> named("psc+m", "centroids").name, named("ucl", "centroids").name
    ('psc-ec+m', 'ucl-ec')
    """
    name = ablation
    if prototypes == "centroids":
        name = f"{ablation[:3]}-ec{ablation[3:]}"
    # said outright: a preset may have +CB on, but a row without it in its name has it off
    switches = {"class_balanced": False} | dict(ABLATIONS[ablation])
    changes = {f"loss.{setting}": value for setting, value in switches.items()}
    return Contestant(name, METHOD_OF[prototypes], changes)


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
            "loss.class_balanced": balanced,
        }
        name = "/".join([margin, kind, *["euc"] * euc, *["cb"] * balanced])
        found.append(Contestant(name, METHOD_OF[kind], changes))
    return tuple(found)
