"""How much do the weights lambda 1 and lambda 3 matter?"""

from __future__ import annotations

from eventide.experiments import Variant, choose
from eventide.reports.claims.accuracy_orders import better
from eventide.reports.claims.claim import Claim, Region

(WHOLE,) = choose("ucl-ec").variants
HARDLY = 0.02
"""Accuracies that differ by less than this differ hardly."""
COLLAPSE = 0.05
"""A loss of accuracy beyond this is a collapse."""


def _weighted(setting: str, value: float) -> Variant:
    changes = {**WHOLE.changes, f"loss.{setting}": value}
    return Variant(f"{WHOLE.name}, {setting}={value:g}", WHOLE.method, changes)


LOW, OWN, HIGH = (_weighted("agreement_weight", value) for value in (0.01, 0.5, 100.0))
USUAL, LARGE = (_weighted("calibration_weight", value) for value in (1.0, 10.0))

AGREEMENT = Claim(
    says="The method is not very sensitive to lambda 3, the weight of the agreement of views.",
    rule=f"UCL-EC with lambda 3 = 0.01 and 100 against 0.5: confirmed if the 95 % interval of the "
    f"difference of accuracies (paired bootstrap over test messages) lies within "
    f"{100 * HARDLY:g} points either way; not confirmed if it lies wholly outside; else undecided.",
    assess=lambda evidence: [
        better(evidence, each.name, OWN.name, Region(-HARDLY, HARDLY), "~") for each in (LOW, HIGH)
    ],
    variants=(LOW, OWN, HIGH),
)

CALIBRATION = Claim(
    says="The result drops rapidly when lambda 1, the weight of calibration, becomes large.",
    rule=f"UCL-EC with lambda 1 = 1 against 10: confirmed if the 95 % interval of the lost "
    f"accuracy (paired bootstrap over test messages) lies above {100 * COLLAPSE:g} points; not "
    f"confirmed if it lies below; else undecided.",
    assess=lambda evidence: [better(evidence, USUAL.name, LARGE.name, Region(COLLAPSE), ">>")],
    variants=(USUAL, LARGE),
)
