"""Orders of the objectives: the whole one before its plainer forms."""

from __future__ import annotations

from eventide.comparison.ablations import named
from eventide.reports.claims.accuracy import RULE, each_better
from eventide.reports.claims.claim import Claim

ORDER = Claim(
    says="UCL-EC is at least as good as UCL, and UCL at least as good as PSC (no margin).",
    rule=f"Each link: {RULE}.",
    judge=lambda evidence: each_better(evidence, ("ucl-ec", "ucl"), ("ucl", "psc")),
    contestants=(named("ucl", "learned"), named("ucl", "centroids"), named("psc", "learned")),
)

MARGINS = Claim(
    says="A margin by class uncertainty beats one by class error rate (+dm, without calibration), "
    "which beats a fixed one (+m), with learned prototypes and with centroids (EC).",
    rule=f"Each link: {RULE}.",
    judge=lambda evidence: each_better(
        evidence,
        ("psc+dm", "psc+m"),
        ("ucl", "psc+dm"),
        ("psc-ec+dm", "psc-ec+m"),
        ("ucl-ec", "psc-ec+dm"),
    ),
    contestants=tuple(
        named(name, kind)
        for kind in ("learned", "centroids")
        for name in ("psc+m", "psc+dm", "ucl")
    ),
)
