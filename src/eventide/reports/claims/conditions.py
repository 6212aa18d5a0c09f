"""The conditions that claims are tested under: every preset with every regime."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from eventide.errors import BadSetting
from eventide.features.encoders import DEFAULT_ENCODER
from eventide.reports.figures.trained_runs import regime_options
from eventide.settings import preset as check_preset

PAPERS = "paper-random"
"""The paper's own way among regimes: the plain random split, with no message locked."""


def conditions(
    presets: Sequence[str],
    regimes: Sequence[str] = (),
    split: str = "random",
    encoder: str | None = None,
) -> list[dict[str, Any]]:
    """Return the options of `Runs` for every preset with every regime.

    Without regimes the messages are split as ``split`` says. A regime's own encoder wins over
    ``encoder``.

    >>> [each["regime"] for each in conditions(["paper", "default"], ["scarce-10"])]
    ['scarce-10', 'scarce-10']
    """
    if not presets:
        raise BadSetting(
            "claims need at least one preset", next_step="write for example --presets paper,default"
        )
    for name in presets:
        check_preset(name)
    encoder = encoder or DEFAULT_ENCODER
    found = [_options(name, encoder) for name in dict.fromkeys(regimes)]
    found = found or [{"split": split, "encoder": encoder}]
    return [{"preset": name, **each} for name in dict.fromkeys(presets) for each in found]


def _options(name: str, encoder: str) -> dict[str, Any]:
    if name == PAPERS:
        return {"split": "random", "encoder": encoder}
    return regime_options(name, encoder)
