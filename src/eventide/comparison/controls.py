"""What does the graph add? The same method with parts of it taken away."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

from eventide.comparison.ablations import named
from eventide.comparison.contestant import Contestant
from eventide.graphs.views import PAPER_VIEWS, USER

WHOLE = named("ucl", "centroids")


def controls() -> tuple[Contestant, ...]:
    """Return the whole method, then each view alone, each pair, and what replaces the graph.

    >>> [each.name for each in controls()][:3]
    ['ucl-ec', 'ucl-ec/hashtag', 'ucl-ec/entity']
    """
    columns = {view.name: view.columns for view in PAPER_VIEWS}
    found = [WHOLE]
    for count in (1, 2):
        for names in combinations(columns, count):
            views = {name: columns[name] for name in names}
            found.append(replace(WHOLE, name=f"{WHOLE.name}/{'+'.join(names)}", views=views))
    # Nobody shares an id, so that every message is its only neighbour, in memory and as a new one.
    alone = dict.fromkeys(columns, ("id",))
    author = columns | {USER.name: (*USER.columns, "user")}
    return (
        *found,
        replace(WHOLE, name=f"{WHOLE.name}/no-graph", views=alone),
        replace(
            WHOLE, name=f"{WHOLE.name}/no-time", changes={**WHOLE.changes, "network.fading": "none"}
        ),
        replace(WHOLE, name=f"{WHOLE.name}/author", views=author),
    )
