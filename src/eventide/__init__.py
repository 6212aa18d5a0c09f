"""Eventide: which event is a message about, and how sure can you be?

>>> import eventide
>>> eventide.EventClassifier(method="ucl").method
'ucl'
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eventide.forks import watch_forks as _watch_forks

if TYPE_CHECKING:
    from eventide.classifier import EventClassifier
    from eventide.classifier import load_model as load

__all__ = ["EventClassifier", "__version__", "load"]


_watch_forks()  # before polars is imported


def __getattr__(name: str) -> Any:
    """Import the heavy parts when first asked for, so that ``import eventide`` is cheap."""
    if name == "__version__":
        from importlib.metadata import version

        return version("eventide")
    if name in ("EventClassifier", "load"):
        from eventide import classifier

        return classifier.EventClassifier if name == "EventClassifier" else classifier.load_model
    raise AttributeError(f"module 'eventide' has no attribute {name!r}")
