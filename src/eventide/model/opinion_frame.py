"""What callers get back: a row of opinions per message, in their own kind of frame."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eventide.errors import InputError
from eventide.methods.method import Prediction
from eventide.opinions.prediction_sets import PredictionSets


class PandasKind(Protocol):
    """A frame or series of pandas, which need not be installed."""

    @property
    def iloc(self) -> Any:
        """Rows by their place; nothing else has such an attribute."""


class ArrowKind(Protocol):
    """A table or array of Arrow, which need not be installed."""

    def to_pylist(self) -> list[Any]:
        """Everything as plain Python."""


def label_weights(weights: Any, labelled: pl.Series) -> NDArray[np.float64] | None:
    """Return the weights of the labelled messages, if there are any."""
    if weights is None:
        return None
    try:
        found = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.zeros(0)
    if found.shape != (len(labelled),) or not (np.isfinite(found) & (found >= 0)).all():
        raise InputError(
            f"sample_weight must hold one number per message, {len(labelled):,} in all",
            next_step="give finite numbers that are not negative",
        )
    kept: NDArray[np.float64] = found[labelled.to_numpy()]
    if not kept.sum() > 0:
        raise InputError(
            "every labelled message has the weight 0", next_step="give one of them some weight"
        )
    return kept


def in_kind(messages: Any, frame: pl.DataFrame) -> Any:
    """Turn a frame into the kind that ``messages`` are."""
    maker = type(messages).__module__.partition(".")[0]
    if maker == "pandas":
        found = frame.to_pandas()
        if hasattr(messages, "index"):
            found.index = messages.index
        return found
    return frame.to_arrow() if maker == "pyarrow" else frame


SIGNIFICANT = 4
"""Digits of an opinion that mean anything to a person: seeds differ in the third."""


SEPARATOR = "|"
"""Stands between the events of a set."""


def opinion_frame(
    ids: pl.Series,
    prediction: Prediction,
    classes: NDArray[np.str_],
    sets: PredictionSets | None = None,
) -> pl.DataFrame:
    """Lay out opinions: event, doubt and the reasons for it, the runner-up, what each view says."""
    rows = np.arange(len(ids))
    ranked = np.where(
        np.arange(len(classes)) == prediction.predicted[:, None], np.inf, prediction.belief
    )
    runner_up = np.argsort(-ranked, axis=1, kind="stable")[:, 1]
    views = {
        f"{what}_{view}": values
        for view, said in prediction.views.items()
        for what, values in (
            ("uncertainty", said.uncertainty),
            ("event", classes[said.predicted]),
            ("neighbours", said.neighbours),
        )
    }
    return pl.DataFrame(
        {
            "id": ids,
            "event": classes[prediction.predicted],
            "probability": prediction.probability[rows, prediction.predicted],
            "doubt": prediction.doubt,
            "belief": prediction.belief[rows, prediction.predicted],
            "vacuity": prediction.vacuity,
            "uncertainty": prediction.vacuity,
            "dissonance": prediction.dissonance,
            "conflict": prediction.conflict,
            "next_event": classes[runner_up],
            "next_belief": prediction.belief[rows, runner_up],
            **({} if sets is None else {"set": _joined(sets, prediction, classes)}),
            **views,
        }
    )


def _joined(sets: PredictionSets, prediction: Prediction, classes: NDArray[np.str_]) -> list[str]:
    members = sets.members(prediction.probability, prediction.predicted)
    return [SEPARATOR.join(map(str, classes[each])) for each in members]


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
    opinions: pl.DataFrame, *, most_doubtful: int | None = None, threshold: float | None = None
) -> pl.DataFrame:
    """Keep the opinions that a person should look at; without a choice, all of them in order.

    ``threshold`` keeps those whose doubt is at least that, in their order; ``most_doubtful`` sorts
    by falling doubt (equals stay in order) and keeps so many.

    >>> opinions = pl.DataFrame({"id": ["a", "b", "c"], "doubt": [0.1, 0.5, 0.9]})
    >>> to_review(opinions, threshold=0.5)["id"].to_list()
    ['b', 'c']
    >>> to_review(opinions, most_doubtful=2)["id"].to_list()
    ['c', 'b']
    """
    if threshold is not None:
        opinions = opinions.filter(pl.col("doubt") >= threshold)
    if most_doubtful is not None:
        ranked = opinions.sort("doubt", descending=True, maintain_order=True)
        opinions = ranked.head(most_doubtful)
    return opinions


def rounded(opinions: pl.DataFrame, digits: int = SIGNIFICANT) -> pl.DataFrame:
    """Round every figure to what is meaningful, for formats that people read.

    >>> rounded(pl.DataFrame({"belief": [0.123456789, 0.99996]}))["belief"].to_list()
    [0.1235, 1.0]
    """
    figures = pl.selectors.float()
    return opinions.with_columns(figures.cast(pl.Float64).round_sig_figs(digits))
