"""Evidence to opinions: belief, uncertainty, conflict; and the rules that fuse views, by name.

A fusion rule takes the opinions of the views, at least one, and returns one opinion.
"""

from __future__ import annotations

from eventide.registry import Registry

FUSIONS = Registry("fusion rule", plugins="eventide.fusions")
FUSIONS.add("dempster", f"{__name__}.fusion:fuse", "Dempster's rule: evidence multiplies")
FUSIONS.add("average", f"{__name__}.fusion:average", "the mean of belief and uncertainty")
FUSIONS.add("cumulative", f"{__name__}.fusion:cumulative", "the sum of the evidence")
FUSIONS.add(
    "discounted",
    f"{__name__}.fusion:discounted",
    "Dempster's rule; a view counts less, the more it contradicts the others",
)
FUSIONS.add(
    "reliable",
    f"{__name__}.reliability:ReliableFusion",
    "Dempster's rule; a view counts as much as it is reliable on validation messages",
)
