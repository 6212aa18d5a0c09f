"""The datasets Eventide can build from what a user has: one module and one line here for each."""

from __future__ import annotations

from eventide.data.folder import register, registered_path
from eventide.registry import Registry

__all__ = ["DATASETS", "register", "registered_path"]

DATASETS = Registry("dataset", plugins="eventide.datasets")
"""Name -> `eventide.data.datasets.dataset.Dataset`, imported when it is used."""

_HERE = "eventide.data.datasets"
DATASETS.add(
    "crisislex-t7",
    f"{_HERE}.crisislex_t7:DATASET",
    "the paper's CrisisLexT_7: 7 English crises, halving in size",
)
DATASETS.add(
    "crisislex-lt28",
    f"{_HERE}.crisislex_lt28:DATASET",
    "all of CrisisLexT26 and T6 as one long tail, in several languages",
)
DATASETS.add(
    "events2012-100",
    f"{_HERE}.events2012:DATASET",
    "the paper's Events2012_100: the 100 largest English events of 2012",
)
DATASETS.add(
    "events2018-100",
    f"{_HERE}.events2018:DATASET",
    "the paper's Events2018_100: the 100 largest French events of 2018",
)
