"""Methods that train a network in phases: runner, phases, predictions, state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Generic, TypeVar

import torch
from numpy.typing import NDArray
from torch import Tensor

from eventide.corpus.corpus import Corpus, Ints
from eventide.corpus.training_set import Problem
from eventide.methods.method import Judgement, ViewJudgement
from eventide.networks.multi_view import MultiViewNetwork
from eventide.networks.trainable import TrainableNetwork
from eventide.opinions.opinion import NO_OPINION
from eventide.runners.graph_runner import MultiViewStage, Stage, choose_device
from eventide.runtime.own_process import warn_if_spinning
from eventide.settings import Settings
from eventide.training.checkpoints import Checkpoints
from eventide.training.loop import Run, Watch
from eventide.training.objectives.objective import Objective, Outputs
from eventide.training.phases import Phase, train_phases

NetworkT = TypeVar("NetworkT", bound=TrainableNetwork)
StageT = TypeVar("StageT", bound=Stage)


class TrainedMethod(Generic[NetworkT, StageT]):
    """A method gives a network, the stage it runs on, and the phases of its training."""

    defaults: ClassVar[Mapping[str, Any]] = {}
    note: ClassVar[str] = ""
    """What must stand beside the method's figures; ``{settings...}`` is filled in from a run's."""

    def __init__(self, settings: Settings, seed: int) -> None:
        self.settings = settings
        self.seed = seed
        self.stage: StageT
        self.objective: Objective
        self.phases: list[Phase]

    def make_network(self, corpus: Corpus, classes: int) -> NetworkT:
        """Return the network with its first weights."""
        raise NotImplementedError

    def make_stage(self, network: NetworkT, corpus: Corpus, device: torch.device) -> StageT:
        """Set the network beside the messages of ``corpus``."""
        raise NotImplementedError

    def make_phases(self, network: NetworkT, counts: Tensor) -> list[Phase]:
        """Return the phases, given how many training messages each class has [C].

        The objective of the last one judges, and is saved with the network.
        """
        raise NotImplementedError

    def fit_inputs(self, network: NetworkT, problem: Problem) -> None:
        """Learn what the network must know of its inputs before training, if anything."""

    def fit(self, problem: Problem, watch: Watch, checkpoints: Checkpoints | None) -> Run:
        """Build network and objectives, then train them."""
        warn_if_spinning()
        network = self.make_network(problem.corpus, problem.classes)
        self.fit_inputs(network, problem)
        self._set_up(network, problem.corpus, torch.from_numpy(problem.class_counts))
        return train_phases(
            self.stage,
            self.phases,
            problem,
            seed=self.seed,
            watch=watch,
            checkpoints=checkpoints,
        )

    def judge(self, rows: Ints) -> Judgement:
        """Judge remembered messages by their row."""
        return self._judgement(self.stage.evaluate(rows), self.stage.neighbours(rows))

    def judge_new(self, corpus: Corpus) -> Judgement:
        """Judge new messages by what the memory holds."""
        found = self.stage.look_up(corpus)
        return self._judgement(self.stage.evaluate_new(found), self.stage.neighbours_new(found))

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
        network = self.make_network(corpus, len(counts))
        network.load_state_dict(_part(tensors, "network."))
        self._set_up(network, corpus, counts)
        self.objective.load_state_dict(_part(tensors, "objective."))

    def _set_up(self, network: NetworkT, corpus: Corpus, counts: Tensor) -> None:
        device = choose_device(self.settings.training.device)
        self.phases = self.make_phases(network, counts)
        self.objective = self.phases[-1].objective.to(device)
        self.stage = self.make_stage(network, corpus, device)

    def _judgement(self, outputs: Outputs, neighbours: Mapping[str, Ints]) -> Judgement:
        opinion = self.objective.read(outputs)
        opinions = self.objective.read_views(outputs)
        fallback = self.objective.counts.argmax()
        return Judgement(
            predicted=_array(opinion.decided(fallback)),
            undecided=_array(opinion.predicted == NO_OPINION),
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
