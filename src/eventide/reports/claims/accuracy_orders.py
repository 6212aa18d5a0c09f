"""Claims that one variant is more accurate than another on the same messages."""

from __future__ import annotations

from eventide.experiments import Variant, choose
from eventide.experiments.variants import METHOD_OF, named
from eventide.reports.claims.claim import MORE, Claim, Link, Region
from eventide.reports.claims.evidence import Evidence
from eventide.reports.figures.style import percent
from eventide.reports.tables.comparison_tables import tested
from eventide.scoring.bootstrap import Interval

RULE = (
    "confirmed if the accuracy is higher and the 95 % interval of the difference (paired bootstrap "
    "over test messages, all seeds pooled) excludes 0; not confirmed if it is lower and the "
    "interval excludes 0; else undecided"
)


def better(
    evidence: Evidence, ours: str, theirs: str, claimed: Region = MORE, sign: str = ">"
) -> Link:
    """Compare the accuracies of two variants on the seeds that both finished."""
    compared = f"{ours} {sign} {theirs}"
    results = evidence.results
    found = results.difference(ours, theirs) if results else None
    if results is None or found is None:
        return Link(compared, None, evidence.why(ours, theirs), claimed=claimed)
    bootstrap = found.bootstrap
    figures = [
        f"{title} {percent(results.spread(ours, tested(measure)), '-')} against "
        f"{percent(results.spread(theirs, tested(measure)), '-')}"
        for title, measure in (("ACC", "accuracy"), ("F1", "macro_f1"))
    ]
    difference = Interval(bootstrap.difference, bootstrap.low, bootstrap.high)
    return Link(compared, difference, ", ".join(figures), claimed=claimed)


def each_better(evidence: Evidence, *pairs: tuple[str, str]) -> list[Link]:
    """Compare several pairs, the claimed winner first in each."""
    return [better(evidence, ours, theirs) for ours, theirs in pairs]


ORDER = Claim(
    says="UCL-EC is at least as good as UCL, and UCL at least as good as PSC (no margin).",
    rule=f"Each link: {RULE}.",
    assess=lambda evidence: each_better(evidence, ("ucl-ec", "ucl"), ("ucl", "psc")),
    variants=(named("ucl", "learned"), named("ucl", "centroids"), named("psc", "learned")),
)


def _margin_order(by_error: str, says: str, rule: str) -> Claim:
    """Fixed < error rate < uncertainty, with learned prototypes and with centroids."""
    rows = [
        [named(name, kind) for name in ("psc+m", by_error, "ucl")]
        for kind in ("learned", "centroids")
    ]
    pairs = [
        (upper.name, lower.name)
        for fixed, error_rate, uncertainty in rows
        for upper, lower in ((error_rate, fixed), (uncertainty, error_rate))
    ]
    return Claim(
        says=says,
        rule=f"Each link: {RULE}. {rule}",
        assess=lambda evidence: each_better(evidence, *pairs),
        variants=tuple(each for row in rows for each in row),
    )


MARGINS = _margin_order(
    "psc+dm+euc",
    "A margin by class uncertainty beats one by class error rate (+dm), which beats a fixed one "
    "(+m), with learned prototypes and with centroids (EC).",
    "All rows have EUC: only the margin differs.",
)

MARGINS_PRINTED = _margin_order(
    "psc+dm",
    "The same order with the rows that the paper prints, where +dm alone is without calibration.",
    "+dm differs from the others in margin and in calibration.",
)


def _both(*ablations: str) -> tuple[Variant, ...]:
    return tuple(named(name, kind) for kind in METHOD_OF for name in ablations)


CALIBRATION = Claim(
    says="The calibration term EUC helps: without it, UCL and UCL-EC lose accuracy.",
    rule=f"Each link: {RULE}.",
    assess=lambda evidence: each_better(
        evidence, ("ucl", "ucl-without-euc"), ("ucl-ec", "ucl-ec-without-euc")
    ),
    variants=_both("ucl", "ucl-without-euc"),
)

BALANCE = Claim(
    says="Weighting the error of rare classes up (+CB) improves UCL and UCL-EC further.",
    rule=f"Each link: {RULE}.",
    assess=lambda evidence: each_better(evidence, ("ucl+cb", "ucl"), ("ucl-ec+cb", "ucl-ec")),
    variants=_both("ucl", "ucl+cb"),
)


PAPERS = ("cb-focal", "ldam-drw", "hybrid-psc", "bcl", "dro-lt", "tsc", "ucl", "ucl-ec")
"""The rows of the paper's table of long-tail methods beside CE; +CB has its own claim."""


WEAKEST = Claim(
    says="Plain cross-entropy (CE) is the weakest of all methods in the long-tail table.",
    rule=f"Each link: {RULE}.",
    assess=lambda evidence: each_better(evidence, *((name, "ce") for name in PAPERS)),
    variants=choose(",".join(["ce", *PAPERS])).variants,
)

HYBRID_PSC = Claim(
    says="Hybrid-PSC, with a prototypical contrastive term, beats plain cross-entropy (CE).",
    rule=f"{RULE[0].upper()}{RULE[1:]}.",
    assess=lambda evidence: each_better(evidence, ("hybrid-psc", "ce")),
    variants=choose("ce,hybrid-psc").variants,
)
