"""The settings that each method runs with: a preset, the method's own, and what tuning chose.

`tuned.json`, beside this file, is written by ``eventide tune``: the same number of trials for every
method, on messages that are not locked. It holds every trial and its score.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from eventide.methods import METHODS
from eventide.settings import Settings, preset, resolve

if TYPE_CHECKING:
    from eventide.methods.method import Method

FILE = "tuned.json"
TUNED_PRESET = "default"
"""The preset under which a method has its tuned settings."""


@cache
def tuning_record() -> Mapping[str, Any]:
    """Return all that the tuning file holds; nothing where there is none yet."""
    path = files("eventide.methods").joinpath(FILE)
    if not path.is_file():
        return {"methods": {}}
    record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return record


def tuned(method: str) -> Mapping[str, Any]:
    """Return the changes that tuning chose for a method; none for one that was not tuned."""
    chosen: Mapping[str, Any] = tuning_record()["methods"].get(method, {}).get("chosen", {})
    return chosen


def tuning_note(method: str) -> str:
    """Say what a table must say of a method that did not have its own trials; nothing of others."""
    row = tuning_record()["methods"].get(method)
    if row is None:
        return "not tuned"
    if "as" in row:
        return f"tuned as {row['as']}"
    return f"no trials: {row['why']}" if "why" in row else ""


def method_settings(method: str, preset_name: str, *changes: Mapping[str, Any]) -> Settings:
    """Return the settings of a method under a preset; ``changes`` win, the last one first."""
    from eventide.methods.method import check_balance  # torch, which a look at the file spares

    kind: type[Method] = METHODS.load(method)
    chosen = tuned(method) if preset_name == TUNED_PRESET else {}
    settings = resolve(preset(preset_name), kind.defaults, chosen, *changes)
    check_balance(kind, settings)
    return settings
