"""One line of a comparison: a method, what is changed in it, and what must be said beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from eventide.graphs.views import PAPER_VIEWS, View
from eventide.methods import METHODS
from eventide.settings import Settings, descriptions, preset, resolve


@dataclass(frozen=True)
class Contestant:
    """A registered method under a name of its own.

    ``changes`` are settings by dotted name; ``views`` maps a view's name to its columns (the
    paper's three where it is None); ``note`` goes into every table.

    >>> Contestant("ucl+cb", "ucl", {"loss.class_balanced": True}).missing()
    """

    name: str
    method: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    views: Mapping[str, tuple[str, ...]] | None = None
    note: str = ""

    def missing(self) -> str | None:
        """Say why this contestant cannot run in this version; None if it can.

        >>> Contestant("x", "ucl", {"loss.magic": 1}).missing()
        "there is no setting 'loss.magic'"
        """
        if self.method not in METHODS:
            return f"no method is called {self.method!r}"
        unknown = [name for name in self.changes if name not in descriptions()]
        return f"there is no setting {unknown[0]!r}" if unknown else None

    def settings(self, preset_name: str, changes: Mapping[str, Any]) -> Settings:
        """Return the settings it runs with: what makes it itself wins over everybody's changes."""
        defaults = METHODS.load(self.method).defaults
        return resolve(preset(preset_name), defaults, changes, self.changes)

    def graph_views(self) -> tuple[View, ...]:
        """Return the views it reads."""
        if self.views is None:
            return PAPER_VIEWS
        return tuple(View(name, tuple(columns)) for name, columns in self.views.items())
