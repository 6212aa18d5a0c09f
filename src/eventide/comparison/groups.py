"""Who is compared: contestants by name and by group, read from the registry of methods.

The lists give the order of the paper's tables; a method registered in one of the groups
"long-tail", "event-detection" or "yardstick" joins its table without a line here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import chain

from eventide.comparison.ablations import grid, named, named_rows
from eventide.comparison.contestant import Contestant
from eventide.comparison.controls import controls
from eventide.errors import BadSetting
from eventide.methods import METHODS

LONG_TAIL = (
    "ce", "cb-focal", "ldam-drw", "hybrid-psc", "bcl", "dro-lt", "tsc", "logit-adjustment",
)  # fmt: skip
EVENT_DETECTION = ("twitter-lda", "word2vec", "bert", "pp-gcn", "kpgnn", "mvgan", "etgnn")
YARDSTICKS = ("lr-tfidf", "lr-encoder", "nearest-in-time")


@dataclass(frozen=True)
class Choice:
    """Who runs, which groups were asked for by name, and who had to be left out."""

    contestants: tuple[Contestant, ...]
    groups: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def groups() -> dict[str, tuple[Contestant, ...]]:
    """Map every group to its contestants, those that this version lacks among them.

    >>> [each.name for each in groups()["long-tail"]][:2]
    ['ce', 'cb-focal']
    """
    yardsticks = _plain(YARDSTICKS, "yardstick")
    ours = [named(name, kind) for kind in ("learned", "centroids") for name in ("ucl", "ucl+cb")]
    long_tail = (*_plain(LONG_TAIL, "long-tail"), *ours, *yardsticks)
    event_detection = (*_plain(EVENT_DETECTION, "event-detection"), ours[0], ours[2], *yardsticks)
    everybody = [*event_detection, *long_tail]
    everybody += _plain([entry.name for entry in METHODS], None)
    return {
        "event-detection": event_detection,
        "long-tail": long_tail,
        "yardsticks": yardsticks,
        "ablation": named_rows(),
        "ablation-grid": grid(),
        "controls": controls(),
        "all": _distinct(everybody),
    }


def members(group: str) -> tuple[Contestant, ...]:
    """Return the contestants of a group that can run in this version."""
    return tuple(each for each in groups()[group] if each.missing() is None)


def choose(text: str) -> Choice:
    """Read a list of names and groups, separated by commas.

    A member of a group that this version lacks is left out with a note; one asked for by name is
    an error, like a name that nobody has.

    >>> choose("ce,ucl-ek")
    Traceback (most recent call last):
    eventide.errors.BadSetting: no method, variant or group is called 'ucl-ek'
      next:  did you mean ucl-ec, ...
    """
    known = groups()
    catalogue = {each.name: each for each in _distinct(chain.from_iterable(known.values()))}
    chosen: list[Contestant] = []
    asked: list[str] = []
    absent: dict[str, None] = {}
    for word in filter(None, (part.strip() for part in text.split(","))):
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


def _plain(names: Sequence[str], group: str | None) -> tuple[Contestant, ...]:
    """Methods as they are: the names listed, then what else is registered in the group."""
    extra = [entry.name for entry in METHODS if entry.group == group]
    return tuple(Contestant(name, name) for name in dict.fromkeys([*names, *extra]))


def _distinct(contestants: Iterable[Contestant]) -> tuple[Contestant, ...]:
    """Return each name once, as it was first said: a row's own switches come before a method's."""
    found: dict[str, Contestant] = {}
    for each in contestants:
        found.setdefault(each.name, each)
    return tuple(found.values())


def _unknown(word: str, groups: Iterable[str], names: Iterable[str]) -> BadSetting:
    close = get_close_matches(word, [*groups, *names], n=3)
    hint = f"did you mean {', '.join(close)}?" if close else f"groups: {', '.join(groups)};"
    return BadSetting(
        f"no method, variant or group is called {word!r}",
        next_step=f"{hint} all methods: eventide methods",
    )
