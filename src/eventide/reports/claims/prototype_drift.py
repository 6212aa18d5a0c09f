"""Do learned prototypes move more between batches than centroids do?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from eventide.losses import PROTOTYPES
from eventide.reports.claims.claim import TINY, Claim, Link
from eventide.reports.claims.evidence import LEARNED, Evidence
from eventide.reports.figures.drift_curves import Drift, Drifts
from eventide.scoring.bootstrap import Floats, means_apart

PROBE = "drift"


def _assess(evidence: Evidence) -> list[Link]:
    probed: Mapping[int, Drifts] = evidence.probed(PROBE)
    centroids = _of_kind(probed, "centroids")
    return [_link(evidence, kind, _of_kind(probed, kind), centroids) for kind in LEARNED]


def _of_kind(probed: Mapping[int, Drifts], kind: str) -> list[Drift]:
    return [one for each in probed.values() for one in each.methods if one.prototypes == kind]


def _link(
    evidence: Evidence, kind: str, learned: Sequence[Drift], centroids: Sequence[Drift]
) -> Link:
    compared = f"drift of {kind} > of centroids"
    if kind not in PROTOTYPES:
        return Link(compared, None, f"not in this version: prototypes {kind!r}", TINY)
    if not (learned and centroids):
        return Link(compared, None, evidence.why(PROBE), TINY)
    ours, theirs = (
        [np.array(one.settled_batches) for one in each] for each in (learned, centroids)
    )
    if not all(sum(map(len, each)) for each in (ours, theirs)):
        return Link(compared, None, "training has no two batches to compare", TINY)
    measured = (
        f"mean cosine distance between batches {_mean(ours):.2e} against {_mean(theirs):.2e}, "
        f"between epochs {_epochs(learned)} against {_epochs(centroids)}; over the whole training "
        f"{_whole(learned)} against {_whole(centroids)}"
    )
    return Link(compared, means_apart(ours, theirs), measured, TINY)


def _epochs(drifts: Sequence[Drift]) -> str:
    values = [np.array(each.settled_epochs) for each in drifts]
    return f"{_mean(values):.2e}" if sum(map(len, values)) else "unknown (one epoch)"


def _whole(drifts: Sequence[Drift]) -> str:
    return f"{_mean([np.array(each.between_batches) for each in drifts]):.2e}"


def _mean(values: Sequence[Floats]) -> float:
    return float(np.concatenate(values).mean())


DRIFT = Claim(
    says="Learned prototypes (UCL) fluctuate more between batches than centroids (UCL-EC) do.",
    rule="The mean cosine distance of the prototypes from those of the batch before, over the "
    "second half of the epochs, where training has settled, and all seeds; confirmed if the 95 % "
    "interval of learned less centroids (bootstrap over batches) lies above 0, not confirmed if "
    "below 0, else undecided. Judged for prototypes as printed (normal, of any length: a long row "
    "hardly turns) and for unit rows. Centroids stand still within an epoch, by construction.",
    assess=_assess,
    probes=(PROBE,),
)
