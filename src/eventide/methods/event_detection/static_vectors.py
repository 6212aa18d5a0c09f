"""``static-vectors``: the mean of the bundled static vectors (wordllama), and a small network.

A method of ours [C]: these vectors are not word2vec's. They were taken from a language model and
know far more words than a small collection teaches.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import polars as pl
from torch import Tensor

from eventide.corpus.corpus import Corpus
from eventide.features.encoders import Encoder, State, encoder
from eventide.methods.event_detection.averaged_vectors import WordNetwork, averaged
from eventide.methods.event_detection.text_method import TextMethod

BUNDLED = "wordllama"


class StaticVectors(TextMethod[WordNetwork]):
    """Averages bundled vectors and classifies the mean."""

    @cached_property
    def encoder(self) -> Encoder:
        """What averages the bundled vectors of a message."""
        return encoder(BUNDLED)

    def read(self, messages: pl.DataFrame) -> Tensor:
        """Return the mean of each message's vectors [n, d]."""
        return averaged(self.encoder, messages)

    def make_network(self, corpus: Corpus, classes: int) -> WordNetwork:
        """Return the network with its initialisation."""
        return WordNetwork(self.encoder.width, classes, self.seed)

    def reader_facts(self) -> dict[str, Any]:
        """Return the fingerprint of the vectors, which stay where they are."""
        return self.encoder.state().facts

    def recall_reader(self, facts: Mapping[str, Any]) -> None:
        """Check that the vectors are still the same."""
        self.encoder.restore(State({}, dict(facts)))
