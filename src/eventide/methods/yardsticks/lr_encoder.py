"""``lr-encoder``: class-balanced logistic regression on the encoder's own vectors.

A yardstick of ours [C]: what the graph is given, without the graph. Vectors are scaled to unit
length, so that the penalty (C = 1) means the same for every encoder.
"""

from __future__ import annotations

from eventide.features.encoders.pooling import unit_rows
from eventide.methods.linear_probe import Matrix, ProbedMethod
from eventide.training.corpus import Corpus
from eventide.training.problem import Problem


class LrEncoder(ProbedMethod):
    """The probe on the vectors of a corpus."""

    def fit_vectors(self, problem: Problem) -> Matrix:
        """Nothing to learn: the encoder has done that."""
        return self.vectors(problem.corpus)

    def vectors(self, corpus: Corpus) -> Matrix:
        """Return the encoder's vectors, of unit length."""
        return unit_rows(corpus.features)
