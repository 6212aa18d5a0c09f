"""The paper's printed tables, a tested copy of paper/results.toml."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

DATASETS = {
    "events2012-100": "Events2012_100",
    "events2018-100": "Events2018_100",
    "crisislex-t7": "CrisisLexT_7",
}
"""What the paper calls its data sets."""


@cache
def printed() -> dict[str, Any]:
    """Return every table of the paper by its label."""
    content = files("eventide.reports").joinpath("paper_results.toml").read_text("utf-8")
    return tomllib.loads(content)


def purity(view: str, dataset: str) -> float | None:
    """Return the printed share of a view's edges that join messages of one event.

    >>> purity("entity", "crisislex-t7")
    0.9257
    """
    cells = printed()["table_statistics"].get(view)
    if cells is None or dataset not in DATASETS:
        return None
    return float(cells[DATASETS[dataset]])
