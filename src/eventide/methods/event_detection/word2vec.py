"""``word2vec``: the mean of a message's word vectors, and a network with one hidden layer.

Word vectors: Mikolov et al., "Efficient Estimation of Word Representations in Vector Space" (2013).
[P] the mean of the vectors represents the message. [C] without a KeyedVectors file
(``text.word_vectors``) the vectors are learned from the text of the training messages, and from no
other message, by factorising what skip-gram factorises implicitly (``FactorisedWordVectors``).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar

import polars as pl
from numpy.typing import NDArray
from torch import Tensor

from eventide.corpus.corpus import Corpus
from eventide.corpus.training_set import TrainingSet
from eventide.features.encoders import Encoder, State, encoder
from eventide.methods.event_detection.averaged_vectors import WordNetwork, averaged
from eventide.methods.event_detection.static_vectors import BUNDLED
from eventide.methods.event_detection.text_method import TextMethod
from eventide.methods.single_step import messages_of
from eventide.training.checkpoints import Checkpoints
from eventide.training.loop import TrainingRun, Watch

VECTORS = "vectors."


class Word2Vec(TextMethod[WordNetwork]):
    """Averages word vectors and classifies the mean.

    A saved model holds the vectors it has learned, by the hashes of their words; of a file only the
    checksum.
    """

    note: ClassVar[str] = (
        "vectors factorised from the training messages, unless text.word_vectors names a file"
    )

    @cached_property
    def encoder(self) -> Encoder:
        """What averages the word vectors of a message: those of a file, or learned ones."""
        file = self.settings.text.word_vectors
        return encoder("word2vec" if file is None else f"word2vec:{file}")

    def read(self, messages: pl.DataFrame) -> Tensor:
        """Return the mean of each message's word vectors [n, d]."""
        return averaged(self.encoder, messages)

    def make_network(self, corpus: Corpus, classes: int) -> WordNetwork:
        """Return the network with its initialisation."""
        return WordNetwork(self.encoder.width, classes, self.seed)

    def reader_facts(self) -> dict[str, Any]:
        """Return what the vectors are: learned ones are saved beside it, a file is not."""
        return self.encoder.state().facts

    def fit(
        self, training_set: TrainingSet, watch: Watch, checkpoints: Checkpoints | None
    ) -> TrainingRun:
        """Learn the vectors from the training messages, unless a file has them; then train."""
        self.encoder.fit(messages_of(training_set.corpus)[training_set.training_rows])
        return super().fit(training_set, watch, checkpoints)

    def state(self) -> dict[str, NDArray[Any]]:
        """Return weights, logits, and the vectors that were learned."""
        learned = self.encoder.state().arrays
        return super().state() | {VECTORS + name: each for name, each in learned.items()}

    def restore(self, arrays: Mapping[str, NDArray[Any]], corpus: Corpus) -> None:
        """Take them back; a model of before vectors were learned still reads the bundled ones."""
        learned = {
            name.removeprefix(VECTORS): each
            for name, each in arrays.items()
            if name.startswith(VECTORS)
        }
        if not learned and self.settings.text.word_vectors is None:
            self.encoder = encoder(BUNDLED)
        self._learned = learned
        others = {name: each for name, each in arrays.items() if not name.startswith(VECTORS)}
        super().restore(others, corpus)

    def recall_reader(self, facts: Mapping[str, Any]) -> None:
        """Make the vectors again, or check that they are still the same."""
        self.encoder.restore(State(self._learned, dict(facts)))
