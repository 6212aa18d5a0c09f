"""A judgement as a table: one row per message, in words an analyst can read."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eventide.methods.base import Judgement


def opinion_frame(ids: pl.Series, judgement: Judgement, classes: NDArray[np.str_]) -> pl.DataFrame:
    """Lay out opinions: the event and what is believed, the runner-up, and what each view says."""
    rows = np.arange(len(ids))
    ranked = np.where(
        np.arange(len(classes)) == judgement.predicted[:, None], np.inf, judgement.belief
    )
    runner_up = np.argsort(-ranked, axis=1, kind="stable")[:, 1]
    views = {
        f"{what}_{view}": values
        for view, said in judgement.views.items()
        for what, values in (
            ("uncertainty", said.uncertainty),
            ("event", classes[said.predicted]),
            ("neighbours", said.neighbours),
        )
    }
    return pl.DataFrame(
        {
            "id": ids,
            "event": classes[judgement.predicted],
            "belief": judgement.belief[rows, judgement.predicted],
            "probability": judgement.probability[rows, judgement.predicted],
            "uncertainty": judgement.uncertainty,
            "conflict": judgement.conflict,
            "next_event": classes[runner_up],
            "next_belief": judgement.belief[rows, runner_up],
            **views,
        }
    )
