"""Cross-entropy among the long-tail methods."""

from __future__ import annotations

from eventide.comparison import choose
from eventide.reports.claims.accuracy import RULE, each_better
from eventide.reports.claims.claim import Claim

PAPERS = ("cb-focal", "ldam-drw", "hybrid-psc", "bcl", "dro-lt", "tsc", "ucl", "ucl-ec")
"""The rows of the paper's table of long-tail methods beside CE; +CB stands in its own claim."""


WEAKEST = Claim(
    says="Plain cross-entropy (CE) is the weakest of all methods in the long-tail table.",
    rule=f"Each link: {RULE}.",
    judge=lambda evidence: each_better(evidence, *((name, "ce") for name in PAPERS)),
    contestants=choose(",".join(["ce", *PAPERS])).contestants,
)

HYBRID_PSC = Claim(
    says="Hybrid-PSC, with a prototypical contrastive term, beats plain cross-entropy (CE).",
    rule=f"{RULE[0].upper()}{RULE[1:]}.",
    judge=lambda evidence: each_better(evidence, ("hybrid-psc", "ce")),
    contestants=choose("ce,hybrid-psc").contestants,
)
