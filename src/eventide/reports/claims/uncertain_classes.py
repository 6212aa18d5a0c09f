"""What UCL-EC does for the uncertain classes, against CE: accuracy, and likeness to others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from eventide.reports.claims.claim import COSINE, POINTS, Claim, Link, Unit
from eventide.reports.claims.evidence import CE, UCL_EC, Evidence
from eventide.reports.figures.similarity_histograms import Similarities
from eventide.reports.figures.style import counted
from eventide.scoring.bootstrap import Floats, means_apart
from eventide.scoring.class_groups import GROUPS, ClassGroups

UNCERTAIN = GROUPS[-1]
FEWEST = 10
"""Fewer messages can all be right or wrong by chance, which no draw from them would show."""
Values = Mapping[str, Floats]
"""One value per test message, by group."""


def _gains(evidence: Evidence) -> list[Link]:
    ours, theirs = evidence.outcomes(UCL_EC.name), evidence.outcomes(CE.name)
    found: list[Values] = []
    for seed, groups in evidence.probed("groups").items():
        if seed in ours and seed in theirs and ours[seed].tested == theirs[seed].tested:
            truth = np.array(ours[seed].truth)
            right = [np.array(each[seed].predicted) == truth for each in (ours, theirs)]
            gain = right[0].astype(np.float64) - right[1]
            found.append(by_group(gain, truth, groups))
    why = evidence.why("groups", UCL_EC.name, CE.name)
    return most(found, "gain", POINTS, why)


def by_group(values: Floats, truth: Floats, groups: ClassGroups) -> Values:
    """Sort one value per message by the group of its class."""
    return {name: values[np.isin(truth, groups.members(name))] for name in GROUPS}


def _falls(evidence: Evidence) -> list[Link]:
    found: list[Values] = []
    probed: Mapping[int, Similarities] = evidence.probed("similarity")
    for each in probed.values():
        inter = {(one.method, one.group): np.array(one.inter) for one in each.likeness}
        found.append({name: inter[CE.name, name] - inter[UCL_EC.name, name] for name in GROUPS})
    return most(found, "fall", COSINE, evidence.why("similarity"))


def most(found: Sequence[Values], what: str, unit: Unit, why: str) -> list[Link]:
    """Compare the uncertain group with nothing at all, and with each other group there is.

    Seeds whose groups are empty cannot be compared on them and are left out.
    """
    seeds = [each for each in found if len(each[UNCERTAIN])]
    if not seeds:
        reason = "no test message is of an uncertain class" if found else why
        return [Link(f"{what} of {UNCERTAIN} > 0", None, reason, unit)]
    own = [each[UNCERTAIN] for each in seeds]
    if sum(map(len, own)) < FEWEST:
        reason = f"only {_sizes(own)} are of uncertain classes"
        return [Link(f"{what} of {UNCERTAIN} > 0", None, reason, unit)]
    links = [Link(f"{what} of {UNCERTAIN} > 0", means_apart(own, [np.zeros(1)]), _sizes(own), unit)]
    for name in GROUPS[:-1]:
        both = [each for each in seeds if len(each[name])]
        if not both:
            continue  # an empty group cannot gain more
        ours, theirs = ([each[group] for each in both] for group in (UNCERTAIN, name))
        form = f"{{:{unit.form}}}"
        means = [form.format(unit.scale * np.concatenate(each).mean()) for each in (ours, theirs)]
        measured = f"{what} {means[0]} against {means[1]}, {_sizes(theirs)}"
        compared = f"{what} of {UNCERTAIN} > of {name}"
        links.append(Link(compared, means_apart(ours, theirs), measured, unit))
    if len(links) == 1:
        reason = "all test messages are of uncertain classes"
        links.append(Link(f"{what} of {UNCERTAIN} > of others", None, reason, unit))
    return links


def _sizes(values: Sequence[Floats]) -> str:
    seeds = counted(len(values), "seed", "seeds")
    return f"{sum(map(len, values))} messages of {seeds}"


_RULE = (
    "Groups are thirds of the range of UCL-EC's class uncertainty. Confirmed if the {what} of the "
    "uncertain group is above 0 and above that of every other group that has messages, each "
    "with a 95 % interval (bootstrap over test messages) that excludes 0; not confirmed if one of "
    "these differences is below 0 with such an interval; else, and with fewer than 10 uncertain "
    "messages, undecided."
)

GAINS = Claim(
    says="UCL-EC achieves its largest gain over CE on the uncertain classes.",
    rule=_RULE.format(what="accuracy gain"),
    assess=_gains,
    variants=(CE, UCL_EC),
    probes=("groups",),
)

SIMILARITY = Claim(
    says="From CE to UCL-EC, the inter-class similarity of uncertain classes falls most.",
    rule=_RULE.format(what="fall in mean cosine with messages of other events (entity view)"),
    assess=_falls,
    probes=("similarity",),
)
