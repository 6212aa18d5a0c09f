"""Experts that score every known event for a message, all from what a model has anyway.

They are pooled by how well they did on messages that were labelled after they had been assigned.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eventide.novelty.signals import MessageEvidence
from eventide.opinions.log_pool import softmax

EXPERTS = ("network", "probe", "centroid", "nearest", "elements", "time")
LEAST = 1e-6
COSINES = 4.0
"""Cosines are stretched to about the range of the log probabilities."""


def expert_scores(evidence: MessageEvidence) -> NDArray[np.float32]:
    """Return the score of every class by every expert [n, C, experts]; larger is likelier.

    ``network`` and ``probe`` are log probabilities, ``centroid`` and ``nearest`` cosines of the
    text's vector, ``elements`` counts elements that labelled messages of this class alone have, and
    ``time`` is the log density of the class's labelled messages at the time of the message.
    """
    found = evidence.comparison
    probe = softmax(evidence.logits)
    scores = (
        np.log(np.maximum(evidence.prediction.probability, LEAST)),
        np.log(np.maximum(probe, LEAST)),
        COSINES * found.centroid,
        COSINES * np.maximum(found.nearest[:, :, 0], 0.0),
        np.log1p(found.own),
        found.when,
    )
    return np.stack(scores, axis=2).astype(np.float32)
