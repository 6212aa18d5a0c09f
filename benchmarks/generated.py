"""Invented message graphs for the benchmarks: events, days and elements of Zipf-like popularity.

One recipe for every benchmark. The vocabulary does not grow with the number of messages, so an
element's popularity grows with it and the implied edges with its square, as on a real platform.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from eventide.graphs.incidence import Incidence
from eventide.graphs.keys import element_keys

Recipe = tuple[float, float, int, int]
"""Mean elements of a message, of them an event's own share, own vocabulary, common one."""
LONG_TAIL: dict[str, Recipe] = {
    "hashtag": (1.5, 0.75, 25, 2_000),
    "entity": (2.4, 0.55, 200, 6_000),
    "user": (1.0, 0.60, 40, 8_000),
}
"""Many rare elements: more messages fill more days, so that work per message grows too."""
TRENDING: dict[str, Recipe] = {
    "hashtag": (1.0, 0.0, 1, 30),
    "entity": (1.5, 0.0, 1, 20),
    "user": (1.0, 0.0, 1, 30),
}
"""A few elements that are used every day already: more messages mean more popularity alone."""


@dataclass(frozen=True)
class GeneratedGraph:
    """Incidences by view, a day and an event for each message."""

    views: dict[str, Incidence]
    times: npt.NDArray[np.int64]
    events: npt.NDArray[np.int64]


def generate(
    messages: int,
    days: int = 28,
    events: int = 100,
    seed: int = 0,
    recipes: dict[str, Recipe] = LONG_TAIL,
) -> GeneratedGraph:
    """Invent ``messages`` messages over ``days`` days; the same arguments give the same graph."""
    random = np.random.default_rng(seed)
    sizes = 0.95 ** np.arange(events)
    event = random.choice(events, size=messages, p=sizes / sizes.sum())
    start = random.integers(0, days, size=events)
    delay = random.exponential(days / 6, size=messages).astype(np.int64)
    times = (start[event] + delay) % days
    views = {}
    for name, (mean, share, own, common) in recipes.items():
        views[name] = _elements(random, event, mean, share, own, common, name)
    return GeneratedGraph(views, times.astype(np.int64), event.astype(np.int64))


def _elements(
    random: np.random.Generator,
    event: npt.NDArray[np.int64],
    mean: float,
    share: float,
    own: int,
    common: int,
    name: str,
) -> Incidence:
    """Draw each message's elements by popularity, from its event's words or from everybody's."""
    degrees = random.poisson(mean, size=len(event))
    rows = np.repeat(np.arange(len(event), dtype=np.int64), degrees)
    of_event = random.random(len(rows)) < share
    rank = np.where(of_event, _zipf(random, own, len(rows)), _zipf(random, common, len(rows)))
    elements = np.where(of_event, common + event[rows] * own + rank, rank)
    vocabulary = common + own * (int(event.max(initial=0)) + 1)
    keys = element_keys(name, map(str, range(vocabulary)))
    return Incidence.build(rows, elements.astype(np.int64), len(event), keys)


def _zipf(random: np.random.Generator, words: int, count: int) -> npt.NDArray[np.int64]:
    """Ranks 0, 1, 2, ... drawn with probability proportional to 1 / (rank + 1)."""
    popularity = 1 / np.arange(1, words + 1)
    return random.choice(words, size=count, p=popularity / popularity.sum())


def one_hashtag(messages: int, days: int = 28, seed: int = 0) -> GeneratedGraph:
    """Everybody shares one hashtag: a single clique, the worst case of a graph with edges."""
    random = np.random.default_rng(seed)
    rows = np.arange(messages, dtype=np.int64)
    incidence = Incidence.build(rows, np.zeros_like(rows), messages, element_keys("", ["flood"]))
    times = random.integers(0, days, size=messages)
    return GeneratedGraph({"hashtag": incidence}, times, np.zeros_like(rows))
