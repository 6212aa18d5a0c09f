"""Labels worth a second look, by confident learning with cross-fitted probabilities.

Logistic regression on the encoder's vectors is trained five times, each time without a fifth of
the messages; so no message's own label speaks for it, and copies of a text are left out together.
A label is suspect where another event is as probable as that event usually is on its own messages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eventide.arrays import unit_rows
from eventide.corpus.corpus import Ints
from eventide.data.near_duplicates import near_duplicate_groups
from eventide.errors import InputError
from eventide.methods.baselines.logistic_regression import LinearProbe

if TYPE_CHECKING:
    from eventide.model.classifier import EventClassifier

FOLDS = 5
FEWEST = 5
"""Messages of an event below which its labels cannot be checked."""
FEW = "too few messages of this event to check its labels"


def check_labels(model: EventClassifier, messages: Any, y: Any = None) -> pl.DataFrame:
    """Return the labelled messages, the most suspect first.

    Columns: id, event (the given one), suggested, suspicion (suggested minus given probability),
    given_probability, suggested_probability, suspect (confident learning says wrong), reason.
    """
    intake = model.intake(messages, y)
    frame = intake.messages.filter(pl.col("event").is_not_null())
    sizes = frame["event"].value_counts()
    enough = sizes.filter(pl.col("count") >= FEWEST)["event"].sort().to_list()
    if len(enough) < 2:
        raise InputError(
            f"checking labels needs two events with at least {FEWEST} messages each",
            where=f"column event of {intake.where}",
            next_step="give more labelled messages, or map the column: --column event=NAME",
        )
    checked = frame.filter(pl.col("event").is_in(enough))
    number = {event: at for at, event in enumerate(enough)}
    labels = np.array([number[event] for event in checked["event"]], dtype=np.int64)
    vectors = unit_rows(model.featuriser_.encoder.encode(checked))
    probability = cross_fitted_probability(vectors, labels, checked["text"], model.seed)
    found = _ranked(checked, labels, probability, np.array(enough))
    rest = frame.filter(~pl.col("event").is_in(enough)).select("id", "event")
    missing = rest.with_columns(pl.lit(False).alias("suspect"), pl.lit(FEW).alias("reason"))
    return pl.concat([found, missing], how="diagonal")


def cross_fitted_probability(
    vectors: NDArray[Any], labels: Ints, texts: pl.Series, seed: int = 0
) -> NDArray[np.float64]:
    """Return the probability of each class [n, C] by probes that did not see the message."""
    groups = near_duplicate_groups(texts)
    folds = _folds(labels, groups, seed)
    classes = int(labels.max()) + 1
    probability = np.zeros((len(labels), classes))
    for fold in range(FOLDS):
        out = folds == fold
        present, inner = np.unique(labels[~out], return_inverse=True)
        if not out.any() or len(present) < 2:
            continue
        logits = LinearProbe.fit(vectors[~out], inner).logits(vectors[out]).astype(np.float64)
        powers = np.exp(logits - logits.max(axis=1, keepdims=True))
        probability[np.ix_(out, present)] = powers / powers.sum(axis=1, keepdims=True)
    return probability


def _folds(labels: Ints, groups: Ints, seed: int) -> Ints:
    """Deal the messages of each class to the folds in turn; copies follow their first message."""
    order = np.random.default_rng([seed, 16]).permutation(len(labels))
    order = order[np.argsort(labels[order], kind="stable")]
    starts = np.searchsorted(labels[order], labels[order])
    folds = np.empty(len(labels), dtype=np.int64)
    folds[order] = (np.arange(len(labels)) - starts) % FOLDS
    _, first, inverse = np.unique(groups, return_index=True, return_inverse=True)
    return np.asarray(folds[first][inverse])


def _ranked(
    frame: pl.DataFrame, labels: Ints, probability: NDArray[np.float64], names: NDArray[np.str_]
) -> pl.DataFrame:
    rows = np.arange(len(labels))
    given = probability[rows, labels]
    others = probability.copy()
    others[rows, labels] = -1
    suggested = others.argmax(axis=1)
    likely = probability[rows, suggested]
    usual = np.array([given[labels == each].mean() for each in range(len(names))])
    suspect = (likely >= usual[suggested]) & (likely > given)
    reason = [
        f"{names[other]} is as probable ({p:.2f}) as on its own messages; {names[own]} has {q:.2f}"
        if doubtful
        else f"{names[other]} is more probable ({p:.2f}) than {names[own]} ({q:.2f})"
        if p > q
        else f"{names[own]} is most probable ({q:.2f})"
        for own, other, p, q, doubtful in zip(
            labels, suggested, likely, given, suspect, strict=True
        )
    ]
    table = pl.DataFrame(
        {
            "id": frame["id"],
            "event": frame["event"],
            "suggested": names[suggested],
            "suspicion": likely - given,
            "given_probability": given,
            "suggested_probability": likely,
            "suspect": suspect,
            "reason": reason,
        }
    )
    return table.sort("suspicion", descending=True, maintain_order=True)
