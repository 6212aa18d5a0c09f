"""What the calling program has registered, for worker processes, which begin without it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from typing import TypeAlias

from eventide.features.encoders import ENCODERS
from eventide.methods import METHODS
from eventide.registry import Entry, Registry

Registered: TypeAlias = Mapping[str, Sequence[Entry]]
REGISTRIES: Mapping[str, Registry] = {"methods": METHODS, "encoders": ENCODERS}


def registered_here() -> Registered:
    """Return all entries of the registries that a run may read."""
    return {name: list(registry) for name, registry in REGISTRIES.items()}


def register(entries: Registered) -> None:
    """Add the entries that this process lacks."""
    for name, given in entries.items():
        registry = REGISTRIES[name]
        for entry in given:
            if entry.name not in registry:
                # A module may register what it defines when it is imported. What cannot be
                # imported fails in its own runs, with a message.
                with suppress(Exception):
                    import_module(entry.target.partition(":")[0])
            if entry.name not in registry:
                registry.add(entry.name, entry.target, entry.summary, entry.group)
