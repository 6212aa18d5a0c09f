"""The paper's table of view quality: how many edges a view has, and how many join one event."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from eventide.graphs.purity import edge_facts
from eventide.graphs.views import PAPER_VIEWS, View
from eventide.reports.facts.fact import Fact

PAPER: dict[str, dict[str, float]] = {
    "events2012-100": {"hashtag": 0.7355, "entity": 0.1976, "user": 0.8847, "all": 0.2323},
    "events2018-100": {"hashtag": 0.8572, "entity": 0.6026, "user": 0.7030, "all": 0.7234},
    "crisislex-t7": {"hashtag": 0.8778, "entity": 0.9257, "user": 0.8707, "all": 0.9121},
}
"""Share of correct edges that the paper prints for its data sets (table_statistics)."""

WHY_DIFFERENT = (
    "The paper does not say how it finds elements. Ours are read from the text: hashtags, links "
    "and mentions by their signs, entities by rules and word lists (extended after reading "
    "frequent words of CrisisLexT6), so edges and shares differ."
)


class ViewQuality(Fact):
    """Edges of one view (or of all together), and their share within one event.

    ``purity`` counts edges between labelled messages only; null where there are none. ``paper`` is
    the paper's share, null for data sets that it does not have.
    """

    view: str
    edges: int
    purity: float | None
    paper: float | None


def quality(
    elements: pl.DataFrame, source: str, chosen: Sequence[View] = PAPER_VIEWS
) -> tuple[ViewQuality, ...]:
    """Count the edges of each view and of their union, exactly and without listing any."""
    printed = PAPER.get(Path(source).stem, {})
    return tuple(
        ViewQuality(
            view=each.view, edges=each.edges, purity=each.purity, paper=printed.get(each.view)
        )
        for each in edge_facts(elements, chosen)
    )
