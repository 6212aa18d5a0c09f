"""The figures that the paper prints, from paper_results.toml."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

from eventide.reports.tables.table import Figure

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


OTHER_NAMES = {"ldam-drw": "LDAM"}
WAY = ("random", "transductive")
"""The paper's split and protocol."""


def figure(variant: str, dataset: str, measure: str) -> Figure | None:
    """Return what the comparison tables print for a variant ("acc" or "f1"), as a share.

    The two tables agree where both have a method.

    >>> figure("ucl-ec+cb", "crisislex-t7", "acc")
    Figure(mean=0.846, deviation=0.0051, best=False)
    >>> figure("logit-adjustment", "crisislex-t7", "acc")
    """
    wanted = _plain(OTHER_NAMES.get(variant, variant))
    for name, cells in (printed()["table_sed"] | printed()["table_ltr"]).items():
        if _plain(name) == wanted and dataset in DATASETS:
            mean, deviation = cells[DATASETS[dataset]][measure]
            return Figure(_share(mean), _share(deviation))
    return None


def ablation_figure(ablation: str, prototypes: str, dataset: str, measure: str) -> Figure | None:
    """Return what the ablation table prints, which is of Events2012_100 alone.

    >>> ablation_figure("psc+m", "learned", "events2012-100", "acc")
    Figure(mean=0.8957, deviation=None, best=False)
    """
    if dataset != "events2012-100":
        return None
    for row in printed()["table_ablation"]:
        if (row["ablation"], row["prototypes"]) == (ablation, prototypes):
            return Figure(row[measure])
    return None


def seconds_per_epoch(variant: str, dataset: str) -> Figure | None:
    """Return the printed seconds per epoch of UCL and UCL-EC.

    >>> seconds_per_epoch("ucl", "crisislex-t7").mean
    3.31
    """
    cells = printed()["table_time"].get(variant.upper())
    if cells is None or dataset not in DATASETS:
        return None
    return Figure(cells[DATASETS[dataset]])


def _plain(name: str) -> str:
    return "".join(sign for sign in name.casefold() if sign.isalnum())


def _share(per_cent: float) -> float:
    return round(per_cent / 100, 6)
