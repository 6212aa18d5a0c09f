"""The rows of the paper's ablation table: settings of one objective, not code of their own."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from eventide.errors import UnknownName
from eventide.losses.settings import LossSettings

ABLATIONS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "ucl": {},
        "psc": {"margin": "none"},
        "psc+m": {"margin": "fixed"},
        "psc+dm": {"margin": "error_rate", "calibration": "none"},
        "ucl-without-euc": {"calibration": "none"},
        "ucl+frequency": {"margin": "frequency"},
        "ucl+cb": {"class_balanced": True},
    }
)
"""What differs from UCL; with ``prototypes="centroids"`` each has its EC twin."""


def ablation_changes(name: str) -> dict[str, Any]:
    """Return what an ablation changes in UCL, by dotted names of settings.

    >>> ablation_changes("ucl+cb")
    {'loss.class_balanced': True}
    """
    return {f"loss.{setting}": value for setting, value in ABLATIONS[name].items()}


def ablation(name: str, *, centroids: bool = False) -> LossSettings:
    """Return the objective of one ablation, with epoch centroids for its EC twin.

    >>> ablation("psc+m", centroids=True).margin
    'fixed'
    """
    if name not in ABLATIONS:
        raise UnknownName(
            f"no ablation is called {name!r}", next_step=f"known: {', '.join(ABLATIONS)}"
        )
    return LossSettings(prototypes="centroids" if centroids else "learned", **ABLATIONS[name])
