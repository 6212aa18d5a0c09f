"""Candidate events of a stream of messages: found by a model, kept in a folder from day to day."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eventide.errors import EventideError, InputError
from eventide.novelty.candidates import ACCEPTED, DISMISSED, MEMBERS, Candidate, Candidates
from eventide.novelty.detector import FALSE_ALARMS
from eventide.novelty.verdicts import NEW
from eventide.novelty.verdicts import OFF_TOPIC as OFF_TOPIC_REASON
from eventide.storage import damaged, expanded, read_bundle, write_bundle

if TYPE_CHECKING:
    from eventide.model.classifier import EventClassifier

KIND = "candidates"
MESSAGES, LISTED, LABELLED = "messages.jsonl", "candidates.jsonl", "accepted.jsonl"
OFF_TOPIC = "dismissed.jsonl"
"""The messages that were judged new, one line per candidate, and what ``update`` can learn."""

PERHAPS = 4.0
"""Messages that so many times the false alarms would call new can join a candidate."""


def discover_events(
    model: EventClassifier,
    messages: Any,
    known: Candidates | None = None,
    *,
    false_alarms: float | None = None,
) -> Candidates:
    """Group the messages that ``model`` judges new into candidate events.

    Give back what an earlier call returned as ``known``: its candidates keep their ids, grow and
    merge. Messages that were taken in before are not taken in again.
    """
    if model.novelty_ is None:
        raise InputError(
            "the model does not measure novelty: it had too few validation messages, or was saved "
            "by an older release",
            next_step="train again, with validation messages",
        )
    found = Candidates.none() if known is None else known
    intake = model.intake(messages)
    opinions = model.opinions(intake, false_alarms=false_alarms)
    new = (opinions["verdict"] == NEW).to_numpy()
    take_in(found, model, intake.messages, new, perhaps_new(model, opinions, false_alarms))
    return found


def take_in(
    found: Candidates,
    model: EventClassifier,
    frame: pl.DataFrame,
    new: NDArray[np.bool_],
    perhaps: NDArray[np.bool_],
) -> None:
    """Let messages judged ``new`` [n], or ``perhaps`` new, join candidates; they are encoded."""
    encoder, wanted = model.featuriser_.encoder, new | perhaps
    features = np.zeros((len(frame), encoder.width), dtype=np.float32)
    if wanted.any():
        features[wanted] = encoder.encode(frame.filter(pl.Series(wanted)))
    width = found.vectors.shape[1]
    if width and width != features.shape[1] + len(found.frequency):
        raise InputError(
            "these candidates were found by a model with another encoder",
            next_step="use that model, or begin with a new folder of candidates",
        )
    found.add(frame, features, new, perhaps)


def perhaps_new(
    model: EventClassifier, opinions: pl.DataFrame, false_alarms: float | None = None
) -> NDArray[np.bool_]:
    """Say which messages would be new if more false alarms were allowed: they can join candidates.

    What is like dismissed messages is not among them.
    """
    if model.novelty_ is None:
        return np.zeros(len(opinions), dtype=bool)
    rate = FALSE_ALARMS if false_alarms is None else false_alarms
    least = model.novelty_.detector.threshold(min(1.0, PERHAPS * rate))
    off_topic = (opinions["reason"] == OFF_TOPIC_REASON).to_numpy()
    return np.asarray((opinions["novelty"].to_numpy() > least) & ~off_topic)


def decide(
    found: Candidates, accept: Mapping[str, str | None], dismiss: Sequence[str]
) -> list[Candidate]:
    """Accept candidates as events (id to name; None keeps the proposal), dismiss others."""
    both = sorted(set(accept) & set(dismiss))
    if both:
        raise InputError(
            f"{both[0]} cannot be accepted and dismissed", next_step="choose one of the two"
        )
    for name in (*accept, *dismiss):
        found.find(name)  # all are there, before any is changed
    decided = [found.decide(each, ACCEPTED, name) for each, name in accept.items()]
    return decided + [found.decide(each, DISMISSED) for each in dismiss]


def save_candidates(found: Candidates, path: Path) -> None:
    """Write candidates and their messages, in clear, to a folder; whole or not at all."""
    facts = {
        "candidates": [each.as_dict() for each in found.candidates],
        "seen": found.seen,
        "made": found.made,
    }
    own: dict[str, NDArray[Any]] = {"vectors": found.vectors, "frequency": found.frequency}
    arrays = {KIND: own}
    lines = [json.dumps(each.as_dict(), ensure_ascii=False) for each in found.candidates]
    texts = {
        MESSAGES: _lines(found.messages),
        LISTED: "".join(f"{line}\n" for line in lines),
        LABELLED: _lines(found.labelled()),
        OFF_TOPIC: _lines(found.dismissed()),
    }
    write_bundle(path, KIND, facts, arrays, texts)


def load_candidates(path: str | Path) -> Candidates:
    """Read what ``save_candidates`` wrote, after checking every file."""
    path = expanded(path)
    bundle = read_bundle(path, KIND)
    try:
        facts, arrays = bundle.facts, bundle.arrays[KIND]
        content = bundle.others[MESSAGES]
        texts = dict.fromkeys(MEMBERS, pl.String)
        read = pl.read_ndjson(io.BytesIO(content), schema=texts) if content else None
        frame = pl.DataFrame(schema=MEMBERS) if read is None else _typed(read)
        if len(frame) != len(arrays["vectors"]):
            raise ValueError("not as many messages as vectors")
        return Candidates(
            [Candidate(**each) for each in facts["candidates"]],
            frame,
            arrays["vectors"],
            arrays["frequency"].astype(np.int64),
            int(facts["seen"]),
            int(facts["made"]),
        )
    except EventideError:
        raise
    except (KeyError, ValueError, TypeError, pl.exceptions.PolarsError) as error:
        raise damaged(path, f"the files do not fit together ({error})") from None


def _lines(frame: pl.DataFrame) -> str:
    return frame.with_columns(
        pl.col("created_at").dt.strftime("%Y-%m-%dT%H:%M:%S%.3fZ")
    ).write_ndjson()


def _typed(frame: pl.DataFrame) -> pl.DataFrame:
    times = pl.col("created_at").str.to_datetime("%Y-%m-%dT%H:%M:%S%.fZ", time_unit="ms")
    return frame.with_columns(times.dt.replace_time_zone("UTC")).select(list(MEMBERS))
