"""How long training will take and how much memory it needs, by what was measured before.

The figures are those of docs/speed.md: two cores, the default method, three views, evaluation
after every epoch. Times go with the number of messages on a line through the logarithms; messages
with many or few common elements can take twice as long or half.
"""

from __future__ import annotations

import numpy as np

from eventide.reports.profile.rows import ProfileSection
from eventide.settings import preset, resolve

MEASURED = ((2_270, 0.31), (20_000, 7.5), (100_000, 145.0), (1_000_000, 33_500.0))
"""Messages, and seconds of an epoch."""

SMALLEST = 400  # fewer messages hardly make an epoch shorter
FIXED_BYTES, BYTES_PER_MESSAGE = 700_000_000, 14_300


class Estimate(ProfileSection):
    """Seconds of an epoch, epochs at most, and bytes of memory: about, not exactly."""

    seconds_per_epoch: float
    epochs: int
    memory: int


def estimate(messages: int) -> Estimate:
    """Estimate training on so many messages with the default settings.

    >>> round(estimate(20_000).seconds_per_epoch, 1), estimate(100_000).memory // 10**9
    (7.5, 2)
    """
    sizes, seconds = np.log(np.array(MEASURED)).T
    size = np.log(max(messages, SMALLEST))
    if size <= sizes[0]:
        per_epoch = seconds[0] + size - sizes[0]  # small sets take time in proportion
    elif size >= sizes[-1]:
        slope = (seconds[-1] - seconds[-2]) / (sizes[-1] - sizes[-2])
        per_epoch = seconds[-1] + slope * (size - sizes[-1])
    else:
        per_epoch = np.interp(size, sizes, seconds)
    return Estimate(
        seconds_per_epoch=float(f"{np.exp(per_epoch):.2g}"),
        epochs=resolve(preset("default")).training.epochs,
        memory=FIXED_BYTES + BYTES_PER_MESSAGE * messages,
    )


def spoken(seconds: float) -> str:
    """Write a duration in one unit.

    >>> spoken(0.31), spoken(31), spoken(750), spoken(3_000_000)
    ('0.3 s', '31 s', '12 minutes', '833 hours')
    """
    if seconds < 10:
        return f"{seconds:.1g} s" if seconds < 1 else f"{seconds:.2g} s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} minutes" if seconds < 7200 else f"{seconds / 3600:,.0f} hours"
