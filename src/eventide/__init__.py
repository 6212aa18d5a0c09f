"""Eventide: which event is a message about, and how sure can you be?

>>> import eventide
>>> eventide.EventClassifier(method="ucl").method
'ucl'
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from eventide import errors
from eventide.errors import EventideError, EventideWarning
from eventide.runtime.forks import watch_forks as _watch_forks

if TYPE_CHECKING:
    from eventide.data import read
    from eventide.data.sample import sample
    from eventide.model import EventClassifier
    from eventide.model import load_model as load

__all__ = [
    "EventClassifier",
    "EventideError",
    "EventideWarning",
    "__version__",
    "errors",
    "load",
    "read",
    "sample",
]

_LAZY = {
    "EventClassifier": ("eventide.model", "EventClassifier"),
    "load": ("eventide.model", "load_model"),
    "read": ("eventide.data", "read"),
    "sample": ("eventide.data.sample", "sample"),
}

# A library leaves it to the program whether anything is logged.
logging.getLogger("eventide").addHandler(logging.NullHandler())


_watch_forks()  # before polars is imported


def __getattr__(name: str) -> Any:
    """Import the heavy parts when first asked for, so that ``import eventide`` is cheap."""
    if name == "__version__":
        from importlib.metadata import version

        return version("eventide")
    if name in _LAZY:
        from importlib import import_module

        module, symbol = _LAZY[name]
        return getattr(import_module(module), symbol)
    raise AttributeError(f"module 'eventide' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Show the public names, and what every module has."""
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
