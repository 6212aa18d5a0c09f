"""The training loop, its phases and checkpoints; and the batch samplers, by name.

A sampler is called with the training rows, their labels, the batch size, the seed and the epoch,
and yields the batches of that epoch.
"""

from __future__ import annotations

from eventide.registry import Registry

SAMPLERS = Registry("batch sampler", plugins="eventide.samplers")
SAMPLERS.add("shuffled", f"{__name__}.batches:shuffled_batches", "every message once an epoch")
SAMPLERS.add(
    "class-balanced",
    f"{__name__}.batches:class_balanced_batches",
    "every class equally often, message by message",
)
SAMPLERS.add(
    "class-aware",
    f"{__name__}.batches:class_aware_batches",
    "every class equally often, four messages at a time",
)
