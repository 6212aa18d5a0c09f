"""Parts of the objective that should help: calibration (EUC), and class balance (+CB)."""

from __future__ import annotations

from eventide.comparison import Contestant
from eventide.comparison.ablations import METHOD_OF, named
from eventide.reports.claims.accuracy import RULE, each_better
from eventide.reports.claims.claim import Claim


def _both(*ablations: str) -> tuple[Contestant, ...]:
    return tuple(named(name, kind) for kind in METHOD_OF for name in ablations)


CALIBRATION = Claim(
    says="The calibration term EUC helps: without it, UCL and UCL-EC lose accuracy.",
    rule=f"Each link: {RULE}.",
    judge=lambda evidence: each_better(
        evidence, ("ucl", "ucl-without-euc"), ("ucl-ec", "ucl-ec-without-euc")
    ),
    contestants=_both("ucl", "ucl-without-euc"),
)

BALANCE = Claim(
    says="Weighting the error of rare classes up (+CB) improves UCL and UCL-EC further.",
    rule=f"Each link: {RULE}.",
    judge=lambda evidence: each_better(evidence, ("ucl+cb", "ucl"), ("ucl-ec+cb", "ucl-ec")),
    contestants=_both("ucl", "ucl+cb"),
)
