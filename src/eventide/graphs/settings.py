"""Settings of time buckets and neighbourhoods."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, PositiveInt

from eventide.setting_group import SettingGroup


class GraphSettings(SettingGroup):
    """Time buckets and the limits of the exact neighbourhoods.

    >>> GraphSettings().time_unit
    'day'
    """

    time_unit: Literal["day", "hour", "minute"] = "day"
    """What time distances are counted in; the paper counts days."""
    bucket_width: PositiveInt = 1
    """Time units in one bucket."""
    earlier_only: bool = False
    """A message reads only messages of earlier time buckets, and itself: as in a stream, where
    nothing later is there yet. A stored state then never changes when messages join."""
    wide_after: int | None = Field(default=None, ge=1, le=12)
    """A message with more elements than this in a view stores explicit neighbours; null chooses by
    the cost of the subsets."""
    memory_budget: int = Field(default=1 << 30, ge=0)
    """Bytes that the constant sums of layer 1 may take; above it they are computed from buckets.
    And what a round of training may keep of its hidden layers for their gradient; above it all
    views but the largest are run again."""
    sampled_neighbours: PositiveInt = 32
    """Most neighbours that a message reads in methods with explicit edges (PP-GCN, KPGNN, MVGAN);
    the exact neighbourhoods of all other methods have no such limit."""
