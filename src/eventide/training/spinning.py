"""A word to programs that train beside others: threads that wait should sleep, not spin.

The command line sees to it. In a library torch may be loaded already, and reads the variable once.
"""

from __future__ import annotations

import logging
import os

import torch

from eventide.cores import usable_cores
from eventide.own_process import WAITING, waiting_chosen

BUSY = 0.5
"""Load per usable core above which others are surely at work too."""
_said = False


def warn_if_spinning() -> None:
    """Log once per process that OpenMP's threads spin while the machine is busy.

    Beside other busy programs an epoch may then take several times as long, beside other trainings
    up to 50 times (benchmarks/busy.py).
    """
    global _said
    if _said or waiting_chosen() or torch.get_num_threads() == 1:
        return
    cores, load = usable_cores(), _load()
    if load > BUSY * cores:
        _said = True
        logging.getLogger("eventide").warning(
            "the machine is busy (load %.1f on %d cores) and torch's threads spin while they wait, "
            "which may slow training down several times; set %s=PASSIVE before torch is imported, "
            "or call torch.set_num_threads(1)",
            load,
            cores,
            WAITING,
        )


def _load() -> float:
    try:
        return os.getloadavg()[0]
    except (AttributeError, OSError):  # not everywhere
        return 0.0
