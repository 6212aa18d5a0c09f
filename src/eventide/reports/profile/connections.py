"""Sections of the data profile about views: elements, cliques, edges and their purity."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from eventide.graphs.purity import edge_counts
from eventide.graphs.views import PAPER_VIEWS, View
from eventide.reports.printed_results import purity
from eventide.reports.profile.sections import ProfileSection

CLIQUES = 5


class Clique(ProfileSection):
    """All messages that share one element, and their share of all messages."""

    column: str
    element: str
    messages: int
    share: float


class ViewProfile(ProfileSection):
    """One view: its elements, how they are spread over messages, its largest cliques."""

    name: str
    columns: tuple[str, ...]
    elements: int
    without: int
    mean: float
    most: int
    cliques: tuple[Clique, ...]


def views(elements: pl.DataFrame, chosen: Sequence[View] = PAPER_VIEWS) -> tuple[ViewProfile, ...]:
    """Profile each view of messages whose elements are filled in."""
    return tuple(_view(elements, view) for view in chosen)


def _view(messages: pl.DataFrame, view: View) -> ViewProfile:
    pairs = pl.concat([_pairs(messages, column) for column in view.columns])
    per_message = pairs.group_by("row").len()["len"]
    sizes = pairs.group_by("column", "element").len("messages")
    largest = sizes.filter(pl.col("messages") > 1).sort(
        "messages", "column", "element", descending=[True, False, False]
    )
    total = messages.height
    return ViewProfile(
        name=view.name,
        columns=view.columns,
        elements=sizes.height,
        without=total - len(per_message),
        mean=pairs.height / total if total else 0.0,
        most=int(per_message.max() or 0),  # type: ignore[arg-type]
        cliques=tuple(
            Clique(**row, share=row["messages"] / total)
            for row in largest.head(CLIQUES).iter_rows(named=True)
        ),
    )


def _pairs(messages: pl.DataFrame, column: str) -> pl.DataFrame:
    """(row, column, element), each once."""
    return (
        messages.select(
            pl.int_range(pl.len()).alias("row"),
            pl.lit(column).alias("column"),
            pl.col(column).alias("element"),
        )
        .explode("element")
        .drop_nulls("element")
        .unique()
    )


WHY_DIFFERENT = (
    "The paper does not say how it extracts elements. Eventide reads them from the text: hashtags, "
    "links and mentions by their syntax, entities by rules and neutral word lists, so edges and "
    "shares differ."
)


class ViewQuality(ProfileSection):
    """Edges of one view (or of all together), and their share within one event.

    ``purity`` counts edges between labelled messages only; null if there are none. ``paper`` is
    the paper's share, null for other data sets.
    """

    view: str
    edges: int
    purity: float | None
    paper: float | None


def quality(
    elements: pl.DataFrame, source: str, chosen: Sequence[View] = PAPER_VIEWS
) -> tuple[ViewQuality, ...]:
    """Count the edges of each view and of their union exactly, without listing them."""
    dataset = Path(source).stem
    return tuple(
        ViewQuality(
            view=each.view,
            edges=each.edges,
            purity=each.purity,
            paper=purity(each.view, dataset),
        )
        for each in edge_counts(elements, chosen)
    )
