"""Do learned prototypes move more between batches than centroids do?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from eventide.reports.claims.claim import TINY, Claim, Link
from eventide.reports.claims.evidence import Evidence
from eventide.reports.figures.drift_curves import Drift, Drifts
from eventide.scoring.bootstrap import Floats, means_apart

PROBE = "drift"


def _assess(evidence: Evidence) -> list[Link]:
    compared = "drift of learned > of centroids"
    probed: Mapping[int, Drifts] = evidence.probed(PROBE)
    learned, centroids = (
        [one for each in probed.values() for one in each.methods if one.prototypes == kind]
        for kind in ("learned", "centroids")
    )
    ours, theirs = (
        [np.array(one.between_batches) for one in each] for each in (learned, centroids)
    )
    if not probed:
        return [Link(compared, None, evidence.why(PROBE), TINY)]
    if not all(sum(map(len, each)) for each in (ours, theirs)):
        return [Link(compared, None, "training has no two batches to compare", TINY)]
    measured = (
        f"mean cosine distance between batches {_mean(ours):.2e} against {_mean(theirs):.2e}, "
        f"between epochs {_epochs(learned)} against {_epochs(centroids)}"
    )
    return [Link(compared, means_apart(ours, theirs), measured, TINY)]


def _epochs(drifts: Sequence[Drift]) -> str:
    values = [np.array(each.between_epochs) for each in drifts]
    return f"{_mean(values):.2e}" if sum(map(len, values)) else "unknown (one epoch)"


def _mean(values: Sequence[Floats]) -> float:
    return float(np.concatenate(values).mean())


DRIFT = Claim(
    says="Learned prototypes (UCL) fluctuate more between batches than centroids (UCL-EC) do.",
    rule="The mean cosine distance of the prototypes from those of the batch before, over the "
    "whole training and all seeds; confirmed if the 95 % interval of learned less centroids "
    "(bootstrap over batches) lies above 0, not confirmed if below 0, else undecided. Centroids "
    "stand still within an epoch, by construction.",
    assess=_assess,
    probes=(PROBE,),
)
