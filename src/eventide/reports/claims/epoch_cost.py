"""What do epoch centroids cost? Seconds per epoch of UCL-EC and UCL."""

from __future__ import annotations

from statistics import fmean

from eventide.reports.claims.claim import PER_CENT, Claim, Link, Region
from eventide.reports.claims.evidence import UCL, UCL_EC, Evidence
from eventide.scoring.bootstrap import Interval

SLIGHTLY = 0.25
"""The paper's largest difference is 11 %; beyond a quarter one would not say slightly."""

UNTIMED = "these runs were kept by a version that did not take the processor's time"


def _assess(evidence: Evidence) -> list[Link]:
    compared = f"seconds of {UCL_EC.name} > of {UCL.name}"
    ours, theirs = evidence.outcomes(UCL_EC.name), evidence.outcomes(UCL.name)
    pairs = [
        (one, other)
        for seed in sorted(ours.keys() & theirs.keys())
        if (one := ours[seed].seconds.processor) and (other := theirs[seed].seconds.processor)
    ]
    if len(pairs) < 2:
        reason = "one seed gives no range of times"
        if not pairs:
            untimed = ours.keys() & theirs.keys()
            reason = UNTIMED if untimed else evidence.why(UCL_EC.name, UCL.name)
        return [Link(compared, None, reason, PER_CENT)]
    more = [one / other - 1 for one, other in pairs]
    means = [fmean(each) for each in zip(*pairs, strict=True)]
    measured = f"{means[0]:.3f} against {means[1]:.3f} seconds an epoch, {len(pairs)} seeds"
    found = Interval(fmean(more), min(more), max(more))
    return [Link(compared, found, measured, PER_CENT, Region(0.0, SLIGHTLY))]


COST = Claim(
    says="An epoch of UCL-EC takes slightly more time than one of UCL.",
    rule="Seconds per epoch of UCL-EC over those of UCL with the same seed, less 1, mean and range "
    f"over seeds: confirmed if every seed lies between 0 and {100 * SLIGHTLY:g} %; not confirmed "
    "if every seed lies below 0, or every seed beyond that; else undecided. Times are the "
    "processor's, which other runs beside it hardly change.",
    assess=_assess,
    variants=(UCL, UCL_EC),
)
