"""The paper's table of view quality: how many edges a view has, and how many join one event."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from eventide.graphs.purity import edge_facts
from eventide.graphs.views import PAPER_VIEWS, View
from eventide.reports.facts.fact import Fact
from eventide.reports.printed import purity

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
    dataset = Path(source).stem
    return tuple(
        ViewQuality(
            view=each.view,
            edges=each.edges,
            purity=each.purity,
            paper=purity(each.view, dataset),
        )
        for each in edge_facts(elements, chosen)
    )
