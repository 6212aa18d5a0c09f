"""Why a message was assigned as it was: each view's opinion and the neighbours it rests on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import polars as pl

from eventide.corpus.corpus import Corpus
from eventide.errors import InputError
from eventide.graphs.incidence import shared_pairs
from eventide.methods.trained import MultiViewMethod
from eventide.model.adviser import Adviser
from eventide.model.classifier import EventClassifier
from eventide.model.inference import MemoryMatch
from eventide.novelty.experts import EXPERTS
from eventide.opinions.fusion import pairwise_conflict
from eventide.opinions.opinion import Opinion, OpinionLike


@dataclass(frozen=True)
class Neighbour:
    """A remembered message: how much it weighs, how far in time, and its training label."""

    weight: float
    time_distance: int
    event: str | None
    id: str | None
    text: str | None


@dataclass(frozen=True)
class ViewExplanation:
    """What one view said, the rate of its time decay, and the neighbours it rests on."""

    view: str
    event: str
    belief: float
    uncertainty: float
    rate: float
    own_weight: float
    neighbours: int
    strongest: list[Neighbour]


@dataclass(frozen=True)
class PoolExplanation:
    """What speaks for the assigned event, and against the next in the pool of experts.

    ``experts`` have the difference of the two events' logits that each adds.
    """

    next_event: str
    experts: dict[str, float]


@dataclass(frozen=True)
class Explanation:
    """One message's opinion with its reasons; ``conflicts`` holds T for every pair of views.

    ``uncertainty`` is the vacuity, here and in each view. There is a ``pool`` where experts decide
    the event together.
    """

    id: str
    text: str
    event: str
    probability: float
    doubt: float
    belief: float
    vacuity: float
    uncertainty: float
    dissonance: float
    conflict: float
    time_unit: str
    conflicts: dict[str, float]
    views: list[ViewExplanation]
    pool: PoolExplanation | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return asdict(self)


def explain(
    model: EventClassifier, messages: Any, message_id: str | None = None, *, strongest: int = 5
) -> Explanation:
    """Explain the message with this id, or the most doubtful one of ``messages``."""
    method = model.method_
    if not isinstance(method, MultiViewMethod):
        raise InputError(
            f"the method {model.method!r} has no views to explain",
            next_step="train with the method ucl-ec, ucl or another that has views",
        )
    intake = model.intake(messages)
    if message_id is None:
        opinions = model.opinions(intake)
        message_id = opinions["id"][int(np.argmax(opinions["doubt"].to_numpy()))]
    message_id = str(message_id)  # whatever kind of string or number the caller has
    chosen = intake.messages.filter(pl.col("id") == message_id)
    if not len(chosen):
        raise InputError(
            f"no message has the id {message_id!r}",
            where=intake.where,
            next_step=f"give one of its ids, such as {', '.join(intake.messages['id'].head(3))}",
        )
    # An opinion does not depend on the other messages asked about: this one is predicted alone.
    match = model.match_messages(chosen)
    row = int(match.rows[0])
    known, runner = row >= 0, method.runner
    rows = np.array([row])
    corpus = model.memory_.take(rows) if known else model.inference.prepare(chosen, match.keys)
    if known:
        rates, outputs = runner.rates(rows), runner.evaluate(rows)
    else:
        found = runner.look_up(corpus)
        rates, outputs = runner.rates_new(found), runner.evaluate_new(found)
    readout = method.objective.read(outputs)
    fallback = int(method.objective.counts.argmax())  # as in every prediction without evidence
    said = model.inference.predict(chosen, match)  # calibrated there, and nowhere else
    decided = int(said.predicted[0])
    return Explanation(
        id=message_id,
        text=chosen["text"][0],
        event=str(model.classes_[decided]),
        probability=float(said.probability[0, decided]),
        doubt=float(said.doubt[0]),
        belief=float(said.belief[0, decided]),
        vacuity=float(said.vacuity[0]),
        uncertainty=float(said.vacuity[0]),
        dissonance=float(said.dissonance[0]),
        conflict=float(said.conflict[0]),
        time_unit=model.settings_.graph.time_unit,
        conflicts=_conflicts(readout.views),
        views=[
            _view(model, name, view, corpus, row, float(rates[name][0]), fallback, strongest)
            for name, view in readout.views.items()
        ],
        pool=_pool(model, chosen, match, decided),
    )


def _pool(
    model: EventClassifier, chosen: pl.DataFrame, match: MemoryMatch, decided: int
) -> PoolExplanation | None:
    adviser = model.inference.advise
    if not isinstance(adviser, Adviser):
        return None
    ((_, said, corpus),) = model.inference.parts(chosen, match)
    (added,) = adviser.contributions(said, corpus)
    others = added.sum(axis=1)
    others[decided] = -np.inf
    following = int(others.argmax())
    difference = (added[decided] - added[following]).tolist()
    return PoolExplanation(
        str(model.classes_[following]), dict(zip(EXPERTS, difference, strict=True))
    )


def _conflicts(views: Mapping[str, OpinionLike]) -> dict[str, float]:
    opinions = [view for view in views.values() if isinstance(view, Opinion)]
    if len(opinions) < len(views):
        return {}
    names = list(views)
    return {
        f"{names[first]} / {names[second]}": float(value[0])
        for (first, second), value in pairwise_conflict(opinions).items()
    }


def _view(
    model: EventClassifier,
    name: str,
    view: OpinionLike,
    corpus: Corpus,
    row: int,
    rate: float,
    fallback: int,
    strongest: int,
) -> ViewExplanation:
    """Find the neighbours of the message in ``corpus`` and weigh them as the last layer does."""
    memory = model.memory_
    _, found = shared_pairs(corpus.incidences[name], memory.incidences[name])
    others = found[found != row]
    if model.settings_.graph.earlier_only:
        others = others[memory.times[others] < corpus.times[0]]
    distances = np.abs(memory.times[others] - corpus.times[0])
    exponents = -rate * np.append(distances, 0).astype(np.float64)
    weights = np.exp(exponents - exponents.max())
    weights /= weights.sum()
    decided = int(view.decided(fallback)[0])
    order = np.lexsort((distances, -weights[:-1]))[:strongest]
    return ViewExplanation(
        view=name,
        event=str(model.classes_[decided]),
        belief=float(view.belief[0, decided]),
        uncertainty=float(view.uncertainty[0]),
        rate=rate,
        own_weight=float(weights[-1]),
        neighbours=len(others),
        strongest=[
            _neighbour(model, int(others[k]), float(weights[k]), int(distances[k])) for k in order
        ],
    )


def _neighbour(model: EventClassifier, row: int, weight: float, distance: int) -> Neighbour:
    label = int(model.labels_[row])
    clear = None if model.remembered_ is None else model.remembered_.row(row, named=True)
    return Neighbour(
        weight=weight,
        time_distance=distance,
        event=str(model.classes_[label]) if label >= 0 else None,
        id=None if clear is None else clear["id"],
        text=None if clear is None else clear["text"],
    )
