"""What does the graph add? The same method with parts of it taken away."""

from __future__ import annotations

from itertools import combinations

from eventide.comparison.contestant import Contestant
from eventide.graphs.views import PAPER_VIEWS, USER

BASE = "ucl-ec"


def controls() -> tuple[Contestant, ...]:
    """Return the whole method, then each view alone, each pair, and what replaces the graph.

    >>> [each.name for each in controls()][:3]
    ['ucl-ec', 'ucl-ec/hashtag', 'ucl-ec/entity']
    """
    columns = {view.name: view.columns for view in PAPER_VIEWS}
    found = [Contestant(BASE, BASE)]
    for count in (1, 2):
        for names in combinations(columns, count):
            views = {name: columns[name] for name in names}
            found.append(Contestant(f"{BASE}/{'+'.join(names)}", BASE, views=views))
    # Nobody shares an id, so that every message is its only neighbour, in memory and as a new one.
    alone = dict.fromkeys(columns, ("id",))
    author = columns | {USER.name: (*USER.columns, "user")}
    return (
        *found,
        Contestant(f"{BASE}/no-graph", BASE, views=alone),
        Contestant(f"{BASE}/no-time", BASE, {"network.time": False}),
        Contestant(f"{BASE}/author", BASE, views=author),
    )
