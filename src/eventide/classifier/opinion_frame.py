"""A judgement as a table: one row per message, in words an analyst can read."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eventide.methods.base import Judgement

SIGNIFICANT = 4
"""Digits of an opinion that mean anything to a person: seeds differ in the third."""


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


def with_messages(opinions: pl.DataFrame, messages: pl.DataFrame) -> pl.DataFrame:
    """Put each message's time and text beside its id; both tables hold the same messages in order.

    >>> opinions = pl.DataFrame({"id": ["1"], "event": ["flood"]})
    >>> messages = pl.DataFrame({"id": ["1"], "text": ["water"], "created_at": [None]})
    >>> with_messages(opinions, messages).columns
    ['id', 'created_at', 'text', 'event']
    """
    if not opinions["id"].equals(messages["id"]):
        raise ValueError("opinions and messages are not of the same ids in the same order")
    said = opinions.drop("id")
    return pl.concat([messages.select("id", "created_at", "text"), said], how="horizontal")


def to_review(
    opinions: pl.DataFrame, *, most_uncertain: int | None = None, threshold: float | None = None
) -> pl.DataFrame:
    """Keep the opinions that a person should look at; without a choice, all of them in order.

    ``threshold`` keeps those whose uncertainty is at least that, in their order;
    ``most_uncertain`` sorts by falling uncertainty (equals stay in order) and keeps so many.

    >>> opinions = pl.DataFrame({"id": ["a", "b", "c"], "uncertainty": [0.1, 0.5, 0.9]})
    >>> to_review(opinions, threshold=0.5)["id"].to_list()
    ['b', 'c']
    >>> to_review(opinions, most_uncertain=2)["id"].to_list()
    ['c', 'b']
    """
    if threshold is not None:
        opinions = opinions.filter(pl.col("uncertainty") >= threshold)
    if most_uncertain is not None:
        ranked = opinions.sort("uncertainty", descending=True, maintain_order=True)
        opinions = ranked.head(most_uncertain)
    return opinions


def rounded(opinions: pl.DataFrame, digits: int = SIGNIFICANT) -> pl.DataFrame:
    """Round every figure to what is meaningful, for formats that people read.

    >>> rounded(pl.DataFrame({"belief": [0.123456789, 0.99996]}))["belief"].to_list()
    [0.1235, 1.0]
    """
    figures = pl.selectors.float()
    return opinions.with_columns(figures.cast(pl.Float64).round_sig_figs(digits))
