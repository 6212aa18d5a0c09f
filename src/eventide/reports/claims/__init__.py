"""The paper's qualitative claims, each tested on any labelled messages: confirmed or not.

A new claim is one `Claim` in a module here, one line below, and a test.
"""

from __future__ import annotations

from eventide.registry import Registry

CLAIMS = Registry("claim", plugins="eventide.claims")

_HERE = __name__
CLAIMS.add(
    "errors", f"{_HERE}.hard_classes:ERRORS", "uncertainty tells hard classes better than size"
)
CLAIMS.add("order", f"{_HERE}.accuracy_orders:ORDER", "UCL-EC >= UCL >= PSC")
CLAIMS.add("margins", f"{_HERE}.accuracy_orders:MARGINS", "fixed < error-rate < uncertainty margin")
CLAIMS.add(
    "margins-printed",
    f"{_HERE}.accuracy_orders:MARGINS_PRINTED",
    "the same, +dm without EUC as printed",
)
CLAIMS.add("calibration", f"{_HERE}.accuracy_orders:CALIBRATION", "EUC helps UCL and UCL-EC")
CLAIMS.add("balance", f"{_HERE}.accuracy_orders:BALANCE", "+CB helps UCL and UCL-EC")
CLAIMS.add(
    "weakest", f"{_HERE}.accuracy_orders:WEAKEST", "CE is the weakest of the long-tail table"
)
CLAIMS.add("hybrid-psc", f"{_HERE}.accuracy_orders:HYBRID_PSC", "Hybrid-PSC beats CE")
CLAIMS.add("gains", f"{_HERE}.uncertain_classes:GAINS", "the uncertain group gains most")
CLAIMS.add(
    "similarity",
    f"{_HERE}.uncertain_classes:SIMILARITY",
    "the uncertain group's inter-class similarity falls most",
)
CLAIMS.add(
    "drift", f"{_HERE}.prototype_drift:DRIFT", "learned prototypes drift more than centroids"
)
CLAIMS.add("lambda3", f"{_HERE}.loss_weights:AGREEMENT", "lambda 3 hardly matters")
CLAIMS.add("lambda1", f"{_HERE}.loss_weights:CALIBRATION", "a large lambda 1 collapses")
CLAIMS.add("cost", f"{_HERE}.epoch_cost:COST", "UCL-EC takes slightly more time per epoch than UCL")
