"""The multi-view frame: the shared temporal network, trained by Algorithm 1 with any objective."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import torch
from numpy.typing import NDArray
from torch import Tensor

from eventide.methods.base import Judgement, ViewJudgement
from eventide.networks.multi_view import MultiViewNetwork
from eventide.settings import Settings
from eventide.training.checkpoints import Checkpoints
from eventide.training.corpus import Corpus, Ints
from eventide.training.loop import Run, Watch, train
from eventide.training.objective import Objective, Outputs
from eventide.training.problem import Problem
from eventide.training.stage import Stage, choose_device


class MultiViewMethod:
    """Shared by every method that trains the network; a method gives the objective."""

    defaults: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, settings: Settings, seed: int) -> None:
        self.settings = settings
        self.seed = seed
        self.stage: Stage
        self.objective: Objective

    def make_objective(self, views: tuple[str, ...], counts: Tensor, width: int) -> Objective:
        """Return the objective for classes with these numbers of training messages [C]."""
        raise NotImplementedError

    def fit(self, problem: Problem, watch: Watch, checkpoints: Checkpoints | None) -> Run:
        """Build network and objective, then train them."""
        network = self._network(problem.corpus, problem.classes)
        training = torch.from_numpy(problem.corpus.features[problem.training_rows])
        network.encoder.fit_features(training)
        self._set_up(network, problem.corpus, torch.from_numpy(problem.class_counts))
        return train(
            self.stage,
            self.objective,
            problem,
            self.settings.training,
            seed=self.seed,
            watch=watch,
            checkpoints=checkpoints,
        )

    def judge(self, rows: Ints) -> Judgement:
        """Judge messages of the graph by their row."""
        return self._judgement(self.stage.evaluate(rows), self.stage.neighbours(rows))

    def judge_new(self, corpus: Corpus) -> Judgement:
        """Judge new messages by what they share with the memory."""
        lookups = self.stage.lookups(corpus)
        neighbours = {view: each.neighbours for view, each in lookups.items()}
        return self._judgement(self.stage.evaluate_new(corpus, lookups), neighbours)

    def state(self) -> dict[str, NDArray[Any]]:
        """Return the weights of network and objective."""
        return {
            f"{part}.{name}": value.detach().cpu().numpy()
            for part, module in (("network", self.stage.network), ("objective", self.objective))
            for name, value in module.state_dict().items()
        }

    def restore(self, arrays: Mapping[str, NDArray[Any]], corpus: Corpus) -> None:
        """Rebuild network and objective from their weights, on ``corpus`` as the memory."""
        tensors = {name: torch.from_numpy(value) for name, value in arrays.items()}
        counts = tensors["objective.counts"]
        network = self._network(corpus, len(counts))
        network.load_state_dict(_part(tensors, "network."))
        self._set_up(network, corpus, counts)
        self.objective.load_state_dict(_part(tensors, "objective."))

    def _network(self, corpus: Corpus, classes: int) -> MultiViewNetwork:
        return MultiViewNetwork(
            features=corpus.features.shape[1],
            classes=classes,
            views=tuple(corpus.incidences),
            settings=self.settings.network,
            seed=self.seed,
        )

    def _set_up(self, network: MultiViewNetwork, corpus: Corpus, counts: Tensor) -> None:
        training = self.settings.training
        device = choose_device(training.device)
        objective = self.make_objective(network.views, counts, network.encoder.width)
        self.objective = objective.to(device)
        self.stage = Stage(
            network, corpus, self.settings.graph, device, mixed_precision=training.mixed_precision
        )

    def _judgement(self, outputs: Outputs, neighbours: Mapping[str, Ints]) -> Judgement:
        opinion = self.objective.read(outputs)
        opinions = self.objective.read_views(outputs)
        fallback = self.objective.counts.argmax()
        return Judgement(
            predicted=_array(opinion.decided(fallback)),
            belief=_array(opinion.belief),
            probability=_array(opinion.probability),
            uncertainty=_array(opinion.uncertainty),
            conflict=_array(self.objective.conflict(outputs)),
            views={
                view: ViewJudgement(
                    _array(each.decided(fallback)), _array(each.uncertainty), neighbours[view]
                )
                for view, each in opinions.items()
            },
        )


def _part(tensors: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {
        name.removeprefix(prefix): value
        for name, value in tensors.items()
        if name.startswith(prefix)
    }


def _array(tensor: Tensor) -> NDArray[Any]:
    return tensor.detach().cpu().numpy()
