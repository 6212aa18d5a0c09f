"""The fixed word lists behind the entity rules: shipped, never learnt from a batch."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

_DOUBLING = re.compile("[^aeiou][aeiou][bdgklmnprt]$")  # stop, stopped
# Heads that "of" continues: "University of Dundee", but not "Maria Torres of Moore".
OF_HEADS = (
    "University|Bank|Gulf|Bay|Isle|City|Church|House|Houses|Ministry|Department|Republic|Strait|"
    "Cape|Port|Battle|League|Duke|Prince|Game|Institute|Museum|School|Board|Court|Tower|Bureau|"
    "Academy|State|Lord|Day"
)


@cache
def roles() -> dict[str, frozenset[str]]:
    """What certain words do in a name, by the headings of ``roles.txt``.

    >>> "premier" in roles()["titles"], "street" in roles()["closers"]
    (True, True)
    """
    found: dict[str, set[str]] = {}
    words: set[str] = set()
    for line in _lines("roles.txt"):
        if line.startswith("["):
            words = found.setdefault(line.strip("[]"), set())
        else:
            words.update(line.split())
    return {role: frozenset(words) for role, words in found.items()}


@cache
def stop_words() -> frozenset[str]:
    """Words that end a run of capitals wherever they stand."""
    return frozenset(_words("stop.txt"))


@cache
def common_words() -> frozenset[str]:
    """Ordinary words in their usual inflections: no name when they stand alone."""
    return frozenset(form for stem in _words("common.txt") for form in _inflected(stem))


@cache
def known_names() -> frozenset[str]:
    """Names that need no capital letter to be believed."""
    return frozenset(name.replace("_", " ") for name in _words("names.txt"))


@cache
def glued_names() -> dict[str, str]:
    """Known names as they look in a hashtag, without spaces, and what they stand for."""
    return {name.replace(" ", ""): name for name in known_names()}


@cache
def caseless_names() -> frozenset[str]:
    """Well-known names in scripts without capital letters."""
    return frozenset(_words("caseless.txt"))


def _lines(name: str) -> list[str]:
    text = files(__package__).joinpath("words", name).read_text(encoding="utf-8").casefold()
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def _words(name: str) -> list[str]:
    return [word for line in _lines(name) for word in line.split()]


def _inflected(stem: str) -> set[str]:
    """The usual English forms of a stem; a form that does not exist does no harm.

    >>> "stopped" in _inflected("stop"), "rescuing" in _inflected("rescue")
    (True, True)
    """
    short = stem[:-1] if stem.endswith("e") else stem
    forms = {stem, stem + "s", stem + "es", stem + "ly"}
    forms |= {short + ending for ending in ("ed", "ing", "ings", "er", "ers")}
    if _DOUBLING.search(stem):
        forms |= {stem + stem[-1] + ending for ending in ("ed", "ing", "er", "ers")}
    if stem.endswith("y"):
        forms |= {stem[:-1] + ending for ending in ("ies", "ied", "ier", "ily")}
    return forms
