"""Regimes: named ways to test a method, all of them on locked messages.

`REGIMES` is the one table that `compare`, `figure`, `claims` and the documentation read. A regime
takes labelled messages and which of them are to be tested (the locked ones), and returns them with
the column ``split`` filled, labels hidden or changed, and rows left out as it says. A new regime is
a function, a line in the table, and a test.

Every regime is inductive: tested messages are not in the graph while anything is learned, so that
no method has read a word of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial

import polars as pl

from eventide.errors import BadSetting
from eventide.experiments.regime_draws import (
    MOST_LABELS,
    Pool,
    chronological_regime,
    corrupted_view_regime,
    duplicate_aware_regime,
    label_noise_regime,
    random_regime,
    scarce_regime,
    unseen_event_regime,
)
from eventide.registry import suggestion

Draw = Callable[[Pool, int], pl.DataFrame]
"""From a pool and a seed to messages with their split."""


@dataclass(frozen=True)
class Regime:
    """One way to test.

    ``encoder`` replaces the encoder of the comparison. ``seeded`` says whether the seed draws the
    split too, or the initialisation alone. In turns (``in_turn``) every event is left out once, and
    a run's seed is the event's place by size.
    """

    name: str
    description: str
    draw: Draw
    encoder: str | None = None
    seeded: bool = True
    in_turn: bool = False


REGIMES: Mapping[str, Regime] = {
    each.name: each
    for each in (
        Regime(
            "random",
            "locked messages of every event, labels of the rest",
            random_regime,
        ),
        Regime(
            "chronological",
            "locked later messages, from each event's earlier half",
            chronological_regime,
            seeded=False,
        ),
        Regime(
            "scarce-10",
            "10 labels in the smallest event, growing to 60 in the largest",
            partial(scarce_regime, fewest=10),
        ),
        Regime(
            "weak-vectors",
            "as random, with 16 values a message (tfidf-svd:16)",
            random_regime,
            encoder="tfidf-svd:16",
        ),
        Regime(
            "corrupted-view-50",
            "as random, half of all entities shuffled among messages",
            partial(corrupted_view_regime, percent=50),
        ),
        Regime(
            "label-noise-10",
            "as random, a tenth of the labels to learn from is wrong",
            partial(label_noise_regime, percent=10),
        ),
        Regime(
            "unseen-event",
            "as random, each event in turn unknown until it is tested",
            unseen_event_regime,
            in_turn=True,
        ),
        Regime(
            "duplicate-aware",
            "as random, one message of every near-duplicate group",
            duplicate_aware_regime,
        ),
    )
}
"""The regimes that ``--regimes all`` names."""

_NUMBER = r"(\d+(?:\.\d+)?)"


@dataclass(frozen=True)
class Family:
    """Regimes that differ in a number: what they are like, the argument it is, and their words."""

    like: str
    argument: str
    words: str

    def member(self, family: str, number: float) -> Regime:
        """Return the regime with this number."""
        whole = int(number) if number == int(number) else number
        like = REGIMES[self.like]
        draw = like.draw.func if isinstance(like.draw, partial) else like.draw
        return replace(
            like,
            name=f"{family}-{number:g}",
            description=self.words.format(number=whole, most=MOST_LABELS),
            draw=partial(draw, **{self.argument: whole}),
        )


FAMILIES: Mapping[str, Family] = {
    "scarce": Family(
        "scarce-10",
        "fewest",
        "{number} labels in the smallest event, growing to {most} in the largest",
    ),
    "corrupted-view": Family(
        "corrupted-view-50",
        "percent",
        "as random, {number} % of all entities shuffled among messages",
    ),
    "label-noise": Family(
        "label-noise-10", "percent", "as random, {number} % of the labels to learn from are wrong"
    ),
    "chronological-gap": Family(
        "chronological",
        "gap_days",
        "as chronological, nothing from the {number} days after training",
    ),
}
"""Regimes with a number in their name: scarce-K, corrupted-view-P, label-noise-P, and days."""


def regime(name: str) -> Regime:
    """Return the regime called ``name``, or say which there are.

    >>> regime("scarce-5").description
    '5 labels in the smallest event, growing to 60 in the largest'
    >>> regime("scarse-5")
    Traceback (most recent call last):
    eventide.errors.BadSetting: there is no regime 'scarse-5'
      next:  did you mean 'scarce-10'? Known: random, ...
    """
    if name in REGIMES:
        return REGIMES[name]
    for family, kind in FAMILIES.items():
        found = re.fullmatch(rf"{family}-{_NUMBER}", name)
        if found and float(found[1]) <= 100:
            return kind.member(family, float(found[1]))
    families = ", ".join(f"{family}-N" for family in FAMILIES)
    raise BadSetting(
        f"there is no regime {name!r}", next_step=f"{suggestion(name, REGIMES)}, {families}"
    )


def regime_names(text: str) -> list[str]:
    """Read a list of regimes, separated by commas; "all" are those of `REGIMES`.

    >>> regime_names("scarce-3,random")
    ['scarce-3', 'random']
    """
    words = [word.strip() for word in text.split(",") if word.strip()]
    names = [name for word in words for name in (REGIMES if word == "all" else [word])]
    if not names:
        raise BadSetting(
            "no regime to compare in", next_step=f"name some: all, {', '.join(REGIMES)}"
        )
    return list(dict.fromkeys(regime(name).name for name in names))


def regime_seeds(chosen: Regime, messages: pl.DataFrame, seeds: Iterable[int]) -> tuple[int, ...]:
    """Return the seeds to run: those given, or one for each event where events take turns."""
    if chosen.in_turn:
        return tuple(range(messages["event"].n_unique() - int(messages["event"].has_nulls())))
    return tuple(dict.fromkeys(seeds))
