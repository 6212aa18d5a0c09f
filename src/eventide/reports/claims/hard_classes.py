"""Does class uncertainty tell hard classes better than class size does?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from eventide.reports.claims.claim import RANK, Claim, Link
from eventide.reports.claims.evidence import Evidence
from eventide.reports.figures.class_uncertainty import ClassUncertainty
from eventide.scoring.bootstrap import DRAWS, Floats, Interval, interval

PROBE = "class-uncertainty"
FEWEST = 3
"""Fewer classes have no rank correlation worth the name."""


def _assess(evidence: Evidence) -> list[Link]:
    found: list[ClassUncertainty] = list(evidence.probed(PROBE).values())
    return [_link(evidence, found, part) for part in ("training", "test")]


def _link(evidence: Evidence, found: Sequence[ClassUncertainty], part: str) -> Link:
    compared = f"uncertainty > 1/n, {part} error"
    if not found:
        return Link(compared, None, evidence.why(PROBE), RANK)
    uncertainty, rarity, error = aligned(found, part)
    if error.shape[1] < FEWEST:
        return Link(compared, None, f"fewer than {FEWEST} classes have {part} messages", RANK)
    everyone = np.arange(error.shape[1])[None, :]
    own, other = (float(each[0]) for each in correlations(uncertainty, rarity, error, everyone))
    if np.isnan(own):
        return Link(compared, None, f"{part} errors, or sizes, are the same for all classes", RANK)
    measured = (
        f"rank correlation with the {part} error of {error.shape[1]} classes: uncertainty "
        f"{own:+.2f}, 1/n {other:+.2f}"
    )
    found_interval = _interval(own - other, uncertainty, rarity, error)
    if found_interval is None:
        measured += "; too few classes err for an interval"
    return Link(compared, found_interval, measured, RANK)


def aligned(found: Sequence[ClassUncertainty], part: str) -> tuple[Floats, Floats, Floats]:
    """Return uncertainty, 1/n and error rate [seeds, classes] of the classes that all seeds have.

    The number of training messages may differ from seed to seed.
    """
    tables = []
    for each in found:
        errors = each.training_error if part == "training" else each.test_error
        rows = zip(each.classes, each.uncertainty, each.counts, errors, strict=True)
        tables.append({name: (u, 1 / n, e) for name, u, n, e in rows if e is not None})
    names = sorted(set.intersection(*(set(table) for table in tables)))
    values = np.array([[table[name] for name in names] for table in tables], dtype=np.float64)
    values = values.reshape(len(tables), len(names), 3)
    return values[..., 0], values[..., 1], values[..., 2]


def _interval(value: float, one: Floats, other: Floats, error: Floats) -> Interval | None:
    """Draw classes, the same ones for both indicators and all seeds."""
    classes = error.shape[1]
    chosen = np.random.default_rng(0).integers(0, classes, (DRAWS, classes))
    own, others = correlations(one, other, error, chosen)
    apart = own - others
    apart = apart[np.isfinite(apart)]
    # A draw in which all errors are alike says nothing; if most are so, neither do the rest.
    return interval(value, apart) if len(apart) > DRAWS / 2 else None


def correlations(
    one: Floats, other: Floats, error: Floats, chosen: NDArray[np.int64]
) -> tuple[Floats, Floats]:
    """Rank correlation of two indicators with the error in every draw of classes [draws].

    Averaged over the seeds in which both are defined; NaN where there is no such seed.
    """
    pairs = [
        [_spearman(values[seed][chosen], wrong[chosen]) for seed, wrong in enumerate(error)]
        for values in (one, other)
    ]
    found = np.array(pairs)
    defined = np.isfinite(found).all(axis=0)
    sums = np.where(defined, found, 0.0).sum(axis=1)
    means = np.full_like(sums, np.nan)
    np.divide(sums, defined.sum(axis=0), out=means, where=defined.any(axis=0))
    return means[0], means[1]


def _spearman(one: Floats, other: Floats) -> Floats:
    """Rank correlation of every row; NaN where either is constant."""
    from scipy.stats import rankdata

    a, b = (rankdata(each, axis=1) for each in (one, other))
    a, b = a - a.mean(axis=1, keepdims=True), b - b.mean(axis=1, keepdims=True)
    sizes = np.sqrt((a**2).sum(axis=1) * (b**2).sum(axis=1))
    found: Floats = np.full(len(a), np.nan)
    np.divide((a * b).sum(axis=1), sizes, out=found, where=sizes > 0)
    return found


ERRORS = Claim(
    says="Class uncertainty is a better indicator of class error than class frequency is.",
    rule="On training and on test error: the Spearman correlation of class uncertainty (UCL-EC) "
    "less that of 1/n, mean over seeds; confirmed if its 95 % interval (bootstrap over classes) "
    "lies above 0, not confirmed if below 0, else undecided.",
    assess=_assess,
    probes=(PROBE,),
)
