"""Messages that join the memory of a causal graph: their states are computed once, on joining.

With ``graph.earlier_only`` a message reads messages of earlier time buckets alone. One that is as
late as the latest of the memory, or later, is read by none of it: every stored state stays.
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING

from eventide.corpus.corpus import Corpus
from eventide.methods.trained import MultiViewMethod
from eventide.model.adviser import Adviser

if TYPE_CHECKING:
    from eventide.model.classifier import EventClassifier


def late_messages(model: EventClassifier, fresh: Corpus) -> int:
    """Count messages of an earlier time bucket than the latest of the memory, in a causal graph."""
    if not model.settings_.graph.earlier_only:
        return 0
    return int((fresh.times < model.inference.latest).sum())


def states_stay(model: EventClassifier, fresh: Corpus) -> bool:
    """Say whether ``fresh`` messages can join without any state being computed again.

    More messages than the memory has are quicker computed together with it.
    """
    return (
        isinstance(model.method_, MultiViewMethod)
        and model.settings_.graph.earlier_only
        and 0 < len(fresh) <= len(model.memory_)
        and late_messages(model, fresh) == 0
    )


def remember(model: EventClassifier, memory: Corpus, fresh: Corpus) -> None:
    """Let the model go on with ``memory``: its own, and after it ``fresh`` in order of time.

    What is kept beside the memory is carried over: the index of ids, and the labelled messages
    that novelty reads, which are the same.
    """
    assert isinstance(model.method_, MultiViewMethod)
    method = copy(model.method_)
    method.runner = model.method_.runner.joined(memory, fresh)
    reference = model.reference.joined(memory)
    inference = model.inference.joined(memory, method, fresh)
    if isinstance(inference.advise, Adviser):
        inference.advise = replace(inference.advise, reference=reference)
    model.memory_, model.method_, model.labels_ = memory, method, reference.labels
    model._inference, model._reference = inference, reference
