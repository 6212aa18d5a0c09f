"""The conditions that claims are tested under: every preset with every regime.

A regime is a split of `SPLITS` as it is, or a named regime with its own protocol and encoder.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from eventide.data.splits import OTHER_NAMES, SPLITS
from eventide.errors import BadSetting
from eventide.features.encoders import DEFAULT_ENCODER
from eventide.registry import suggestion
from eventide.settings import preset as check_preset

PLAIN = {**OTHER_NAMES, "paper-random": "random"}
"""Other names of plain splits: the paper's is the random one, with no message locked away."""


def known_regimes() -> Mapping[str, Any]:
    """Return the regimes by name: with a ``protocol``, perhaps an ``encoder`` and a ``split``."""
    return {}


def conditions(
    presets: Sequence[str], regimes: Sequence[str], encoder: str | None = None
) -> list[dict[str, Any]]:
    """Return the options of `Runs` for every preset with every regime, presets together.

    A regime's own encoder wins over ``encoder``.

    >>> conditions(["paper", "default"], ["random"], "tfidf-svd")[1]["preset"]
    'default'
    """
    if not presets or not regimes:
        raise BadSetting(
            "claims need at least one preset and one regime",
            next_step="write for example --presets paper,default --regimes random",
        )
    for name in presets:
        check_preset(name)
    found = [_options(name, encoder or DEFAULT_ENCODER) for name in dict.fromkeys(regimes)]
    return [{"preset": name, **each} for name in dict.fromkeys(presets) for each in found]


def _options(name: str, encoder: str) -> dict[str, Any]:
    regimes = known_regimes()
    if name in regimes:
        regime = regimes[name]
        return {
            "regime": name,
            "split": getattr(regime, "split", None) or "random",
            "protocol": regime.protocol,
            "encoder": getattr(regime, "encoder", None) or encoder,
        }
    split = PLAIN.get(name, name)
    if split not in SPLITS:
        known = [*SPLITS, *regimes]
        raise BadSetting(f"there is no split or regime {name!r}", next_step=suggestion(name, known))
    return {"split": split, "encoder": encoder}
