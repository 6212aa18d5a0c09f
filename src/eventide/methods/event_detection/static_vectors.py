"""``static-vectors``: the mean of the bundled static vectors (wordllama), and a small network.

A method of ours [C]: these vectors are not word2vec's. They were taken from a language model and
know far more words than a small collection teaches.
"""

from __future__ import annotations

from functools import cached_property

from eventide.features.encoders import Encoder, encoder
from eventide.methods.event_detection.averaged_vectors import AveragedVectors

BUNDLED = "wordllama"


class StaticVectors(AveragedVectors):
    """Averages bundled vectors and classifies the mean."""

    @cached_property
    def encoder(self) -> Encoder:
        """What averages the bundled vectors of a message."""
        return encoder(BUNDLED)
