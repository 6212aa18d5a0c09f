"""The commonest link: one contestant is more accurate than another on the same messages."""

from __future__ import annotations

from eventide.reports.claims.claim import Link
from eventide.reports.claims.evidence import Evidence
from eventide.reports.claims.verdict import MORE, Interval, Region
from eventide.reports.figures.words import percent
from eventide.reports.tables.comparison import tested

RULE = (
    "confirmed if the accuracy is higher and the 95 % interval of the difference (paired bootstrap "
    "over test messages, all seeds pooled) excludes 0; not confirmed if it is lower and the "
    "interval excludes 0; else undecided"
)


def better(
    evidence: Evidence, ours: str, theirs: str, claimed: Region = MORE, sign: str = ">"
) -> Link:
    """Compare the accuracies of two contestants on the seeds that both finished."""
    compared = f"{ours} {sign} {theirs}"
    results = evidence.results
    found = results.difference(ours, theirs) if results else None
    if results is None or found is None:
        return Link(compared, None, evidence.why(ours, theirs), claimed=claimed)
    luck = found.bootstrap
    figures = [
        f"{title} {percent(results.spread(ours, tested(measure)), '-')} against "
        f"{percent(results.spread(theirs, tested(measure)), '-')}"
        for title, measure in (("ACC", "accuracy"), ("F1", "macro_f1"))
    ]
    difference = Interval(luck.difference, luck.low, luck.high)
    return Link(compared, difference, ", ".join(figures), claimed=claimed)


def each_better(evidence: Evidence, *pairs: tuple[str, str]) -> list[Link]:
    """Compare several pairs, the claimed winner first in each."""
    return [better(evidence, ours, theirs) for ours, theirs in pairs]
