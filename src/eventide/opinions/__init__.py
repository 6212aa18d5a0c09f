"""Evidence to opinions: belief, uncertainty, conflict; and the rules that fuse views, by name.

A fusion rule takes the opinions of the views, at least one, and returns one opinion.
"""

from __future__ import annotations

from eventide.registry import Registry

FUSIONS = Registry("fusion rule", plugins="eventide.fusions")
FUSIONS.add("dempster", f"{__name__}.fusion:fuse", "Dempster's rule: evidence multiplies")
FUSIONS.add("average", f"{__name__}.fusion:average", "the mean of belief and uncertainty")
