"""The multi-view frame: the shared temporal network, trained by Algorithm 1 with any objective."""

from __future__ import annotations

import torch
from torch import Tensor

from eventide.methods.trained import TrainedMethod
from eventide.networks.multi_view import MultiViewNetwork
from eventide.training.corpus import Corpus
from eventide.training.objective import Objective
from eventide.training.phases import Phase
from eventide.training.problem import Problem
from eventide.training.stage import MultiViewStage


class MultiViewMethod(TrainedMethod[MultiViewNetwork, MultiViewStage]):
    """Shared by every method in the frame; a method gives its objective, or its phases."""

    def make_objective(self, network: MultiViewNetwork, counts: Tensor) -> Objective:
        """Return the objective for classes with these numbers of training messages [C]."""
        raise NotImplementedError

    def make_phases(self, network: MultiViewNetwork, counts: Tensor) -> list[Phase]:
        """Train everything with one objective; staged methods override this."""
        return [Phase(self.make_objective(network, counts), self.settings.training)]

    def make_network(self, corpus: Corpus, classes: int) -> MultiViewNetwork:
        """Return the network of the frame."""
        return MultiViewNetwork(
            features=corpus.features.shape[1],
            classes=classes,
            views=tuple(corpus.incidences),
            settings=self.settings.network,
            seed=self.seed,
        )

    def fit_inputs(self, network: MultiViewNetwork, problem: Problem) -> None:
        """Learn the scale of the features from the training messages."""
        training = torch.from_numpy(problem.corpus.features[problem.training_rows])
        network.encoder.fit_features(training)

    def make_stage(
        self, network: MultiViewNetwork, corpus: Corpus, device: torch.device
    ) -> MultiViewStage:
        """Connect the messages in every view."""
        return MultiViewStage(
            network,
            corpus,
            self.settings.graph,
            device,
            mixed_precision=self.settings.training.mixed_precision,
            refresh=self.settings.training.layer1_refresh,
        )
