"""What is asked for by name: methods, variants and groups of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import chain

from eventide.errors import BadSetting
from eventide.experiments.variants import (
    Variant,
    controls,
    fusions,
    grid,
    named,
    named_rows,
    pooled,
    prototype_sources,
    without_parts,
)
from eventide.methods import DEFAULT_METHOD, METHODS

LONG_TAIL = (
    "ce", "cb-focal", "ldam-drw", "hybrid-psc", "bcl", "dro-lt", "tsc", "logit-adjustment",
)  # fmt: skip
EVENT_DETECTION = ("twitter-lda", "word2vec", "bert", "pp-gcn", "kpgnn", "mvgan", "etgnn")
BASELINES = ("lr-tfidf", "lr-encoder", "nearest-in-time")


OTHER_NAMES = {"yardsticks": "baselines"}
"""What groups were called in earlier versions."""


@dataclass(frozen=True)
class Choice:
    """The variants to run, the groups asked for by name, and notes on what was left out."""

    variants: tuple[Variant, ...]
    groups: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def groups() -> dict[str, tuple[Variant, ...]]:
    """Map every group to its variants, those that this version lacks among them.

    >>> [each.name for each in groups()["long-tail"]][:2]
    ['ce', 'cb-focal']
    """
    baselines = _plain(BASELINES, "baseline")
    ours = [named(name, kind) for kind in ("learned", "centroids") for name in ("ucl", "ucl+cb")]
    default = Variant(DEFAULT_METHOD, DEFAULT_METHOD)
    long_tail = (*_plain(LONG_TAIL, "long-tail"), *ours, default, *baselines)
    event_detection = (*_plain(EVENT_DETECTION, "event-detection"), ours[0], ours[2], *baselines)
    everything = [*event_detection, *long_tail]
    everything += _plain([entry.name for entry in METHODS], None)
    return {
        "event-detection": event_detection,
        "long-tail": long_tail,
        "baselines": baselines,
        "ablation": named_rows(),
        "ablation-grid": grid(),
        "controls": controls(),
        "fusions": fusions(),
        "experts": pooled(),
        "parts": without_parts(),
        "prototypes": prototype_sources(),
        "all": _distinct(everything),
    }


def members(group: str) -> tuple[Variant, ...]:
    """Return the variants of a group that can run in this version."""
    return tuple(each for each in groups()[group] if each.missing() is None)


def choose(text: str) -> Choice:
    """Read a list of names and groups, separated by commas.

    A member of a group that this version lacks is left out with a note; one asked for by name is
    an error, like an unknown name.

    >>> choose("ce,ucl-ek")
    Traceback (most recent call last):
    eventide.errors.BadSetting: no method, variant or group is called 'ucl-ek'
      next:  did you mean ucl-ec, ...
    """
    known = groups()
    catalogue = {each.name: each for each in _distinct(chain.from_iterable(known.values()))}
    chosen: list[Variant] = []
    asked: list[str] = []
    absent: dict[str, None] = {}
    words = (OTHER_NAMES.get(part.strip(), part.strip()) for part in text.split(","))
    for word in filter(None, words):
        if word in known:
            asked += ["event-detection", "long-tail"] if word == "all" else [word]
            absent |= {each.name: None for each in known[word] if each.missing()}
            chosen += [each for each in known[word] if not each.missing()]
        elif word not in catalogue:
            raise _unknown(word, known, catalogue)
        elif why := catalogue[word].missing():
            raise BadSetting(f"{word!r} cannot run in this version: {why}")
        else:
            chosen.append(catalogue[word])
    if not chosen:
        raise BadSetting(
            "no method to compare", next_step=f"name methods or groups: {', '.join(known)}"
        )
    notes = (f"left out, not in this version: {', '.join(absent)}",) if absent else ()
    return Choice(_distinct(chosen), tuple(dict.fromkeys(asked)), notes)


def _plain(names: Sequence[str], group: str | None) -> tuple[Variant, ...]:
    """Methods as they are: the names listed, then what else is registered in the group."""
    extra = [entry.name for entry in METHODS if entry.group == group]
    return tuple(Variant(name, name) for name in dict.fromkeys([*names, *extra]))


def _distinct(variants: Iterable[Variant]) -> tuple[Variant, ...]:
    """Return each name once, as first given: a row's own switches come before a method's."""
    found: dict[str, Variant] = {}
    for each in variants:
        found.setdefault(each.name, each)
    return tuple(found.values())


def _unknown(word: str, groups: Iterable[str], names: Iterable[str]) -> BadSetting:
    close = get_close_matches(word, [*groups, *names], n=3)
    hint = f"did you mean {', '.join(close)}?" if close else f"groups: {', '.join(groups)};"
    return BadSetting(
        f"no method, variant or group is called {word!r}",
        next_step=f"{hint} all methods: eventide methods",
    )
