"""Methods that train a network in phases: runner, phases, predictions, state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from eventide.corpus.corpus import Corpus, Ints
from eventide.corpus.training_set import TrainingSet
from eventide.errors import BadSetting
from eventide.losses.loss_inputs import Loss, Outputs
from eventide.losses.reduction import error_reduction
from eventide.losses.terms import RegisteredLoss, Term
from eventide.losses.total import agreement_term, paper_terms
from eventide.methods.method import Prediction, ViewPrediction
from eventide.networks.multi_view import MultiViewNetwork
from eventide.networks.trainable import TrainableNetwork
from eventide.opinions.opinion import NO_OPINION
from eventide.opinions.prior_shift import estimated_shares, log_shift, shifted
from eventide.runners.graph_runner import GraphRunner
from eventide.runners.runner import Runner, choose_device, whole_outputs
from eventide.runners.shared_runner import SharedGraphRunner
from eventide.runtime.own_process import warn_if_spinning
from eventide.runtime.share import current_share
from eventide.settings import Settings
from eventide.training.batches import Sampler, class_aware_batches, with_epochs
from eventide.training.checkpoints import Checkpoints
from eventide.training.loop import TrainingRun, Watch
from eventide.training.objectives.objective import Objective
from eventide.training.objectives.output_readers import EvidenceReader, LogitReader
from eventide.training.phases import Phase, train_phases
from eventide.training.settings import TrainingSettings

NetworkT = TypeVar("NetworkT", bound=TrainableNetwork)
RunnerT = TypeVar("RunnerT", bound=Runner)


class TrainedMethod(Generic[NetworkT, RunnerT]):
    """A method gives a network, the runner it runs on, and the phases of its training."""

    defaults: ClassVar[Mapping[str, Any]] = {}
    note: ClassVar[str] = ""
    """What must stand beside the method's figures; ``{settings...}`` is filled in from a run's."""
    balances_error: ClassVar[bool] = False

    def __init__(self, settings: Settings, seed: int) -> None:
        self.settings = settings
        self.seed = seed
        self.runner: RunnerT
        self.objective: Objective
        self.phases: list[Phase]

    def make_network(self, corpus: Corpus, classes: int) -> NetworkT:
        """Return the network with its initialisation."""
        raise NotImplementedError

    def make_runner(self, network: NetworkT, corpus: Corpus, device: torch.device) -> RunnerT:
        """Set the network beside the messages of ``corpus``."""
        raise NotImplementedError

    def make_phases(self, network: NetworkT, counts: Tensor) -> list[Phase]:
        """Return the phases, given how many training messages each class has [C].

        The objective of the last one predicts, and is saved with the network.
        """
        raise NotImplementedError

    def fit_inputs(self, network: NetworkT, training_set: TrainingSet) -> None:
        """Learn what the network must know of its inputs before training, if anything."""

    def fit(
        self, training_set: TrainingSet, watch: Watch, checkpoints: Checkpoints | None
    ) -> TrainingRun:
        """Build network and objectives, then train them."""
        warn_if_spinning()
        network = self.make_network(training_set.corpus, training_set.classes)
        self.fit_inputs(network, training_set)
        self.set_up(network, training_set.corpus, torch.from_numpy(training_set.class_counts))
        run = train_phases(
            self.runner,
            self.phases,
            training_set,
            seed=self.seed,
            watch=watch,
            checkpoints=checkpoints,
        )
        return replace(run, notes=(*run.notes, *self._follow_shares(training_set)))

    def _follow_shares(self, training_set: TrainingSet) -> tuple[str, ...]:
        """Let probabilities follow the shares of the classes among unlabelled messages, and say it.

        The shares among the labels are what the probabilities follow so far.
        """
        rows = training_set.unlabelled
        if not self.settings.training.estimated_shares or not len(rows):
            return ()
        labelled = training_set.class_counts / training_set.class_counts.sum()
        shares = estimated_shares(self.predict(rows).probability, labelled)
        self.objective.log_shift.copy_(torch.from_numpy(log_shift(shares, labelled)))
        note = f"how often each event occurs is estimated from {len(rows):,} unlabelled messages:"
        return (f"{note} probabilities follow that, not how many messages of it are labelled",)

    def predict(self, rows: Ints) -> Prediction:
        """Predict remembered messages by their row."""
        outputs = whole_outputs(self.runner.evaluate(rows), rows)
        return self._prediction(outputs, self.runner.neighbours(rows))

    def predict_new(self, corpus: Corpus) -> Prediction:
        """Predict new messages by what the memory holds."""
        found = self.runner.look_up(corpus)
        return self._prediction(self.runner.evaluate_new(found), self.runner.neighbours_new(found))

    def state(self) -> dict[str, NDArray[Any]]:
        """Return the weights of network and objective."""
        return {
            f"{part}.{name}": value.detach().cpu().numpy()
            for part, module in (("network", self.runner.network), ("objective", self.objective))
            for name, value in module.state_dict().items()
        }

    def restore(self, arrays: Mapping[str, NDArray[Any]], corpus: Corpus) -> None:
        """Rebuild network and objective from their weights, on ``corpus`` as the memory."""
        tensors = {_renamed(name): torch.from_numpy(value) for name, value in arrays.items()}
        counts = tensors["objective.counts"]
        network = self.make_network(corpus, len(counts))
        network.load_state_dict(_part(tensors, "network."))
        self.set_up(network, corpus, counts)
        known = self.objective.state_dict()
        stored = _part(tensors, "objective.")
        self.objective.load_state_dict(
            {name: value for name, value in known.items() if name.startswith(LATER)}
            | {
                name: value
                for name, value in stored.items()
                # Older models hold prototypes of a contrastive term that they do not have.
                if name in known or not name.startswith(UNUSED)
            }
        )

    def memory_states(self) -> dict[str, NDArray[np.float32]]:
        """Return the hidden states of the memory that new messages read."""
        return self.runner.memory_states()

    def recall_states(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take them back instead of running the memory through the network."""
        self.runner.recall_states(arrays)

    def set_up(self, network: NetworkT, corpus: Corpus, counts: Tensor) -> None:
        """Make phases, objective and runner around a network."""
        device = current_share().device or choose_device(self.settings.training.device)
        # Schedules count in epochs, whose number may depend on the training messages.
        training = with_epochs(self.settings.training, int(counts.sum()))
        self.settings = self.settings.model_copy(update={"training": training})
        self.phases = self.make_phases(network, counts)
        for phase in self.phases:
            phase.objective.add_registered(self.settings.loss.extra_terms)
        self._check_sampler()
        self.objective = self.phases[-1].objective.to(device)
        self.runner = self.make_runner(network, corpus, device)

    def _check_sampler(self) -> None:
        """Refuse a sampler where every phase draws its own batches."""
        chosen = self.settings.training.sampler
        own = all(phase.objective.sampler is not None for phase in self.phases)
        if own and chosen != TrainingSettings().sampler:
            raise BadSetting(
                f"training.sampler cannot be {chosen!r}: this method draws its own batches",
                next_step="leave training.sampler as it is, or choose another method",
            )

    def _prediction(self, outputs: Outputs, neighbours: Mapping[str, Ints]) -> Prediction:
        readout = self.objective.read(outputs)
        opinion = readout.fused
        fallback = self.objective.counts.argmax()
        predicted, undecided = opinion.decided(fallback), opinion.predicted == NO_OPINION
        probability, shift = _array(opinion.probability), _array(self.objective.log_shift)
        if shift.any():
            probability = shifted(probability, shift)
            likeliest = torch.from_numpy(probability.argmax(axis=1)).to(predicted)
            predicted = torch.where(undecided, predicted, likeliest)
        return Prediction(
            predicted=_array(predicted),
            undecided=_array(undecided),
            belief=_array(opinion.belief),
            probability=probability,
            uncertainty=_array(opinion.uncertainty),
            conflict=_array(readout.conflict),
            views={
                view: ViewPrediction(
                    _array(each.decided(fallback)), _array(each.uncertainty), neighbours[view]
                )
                for view, each in readout.views.items()
            },
        )


def cross_entropy_objective(
    counts: Tensor, reader: LogitReader | None = None, sampler: Sampler | None = None
) -> Objective:
    """Return cross-entropy on the fused logits, and nothing else."""
    error = Term(RegisteredLoss("cross-entropy"))
    return Objective(counts, {"error": error}, reader or LogitReader(), sampler)


RENAMED = {
    "objective.total.prototypes.": "objective.terms.contrastive.loss.prototypes.",
    "objective.prototypes.": "objective.terms.contrastive.loss.prototypes.",
    "objective.projectors.": "objective.terms.contrastive.loss.projectors.",
}
"""How weights were called in models of release 0.1, and how now."""
UNUSED = "terms.contrastive.loss.prototypes."
LATER = ("terms.contrastive.loss.message_projectors.", "log_shift")
"""What older models do not have, and predict without."""


def _renamed(name: str) -> str:
    for old, new in RENAMED.items():
        if name.startswith(old):
            return new + name.removeprefix(old)
    return name


def _part(tensors: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {
        name.removeprefix(prefix): value
        for name, value in tensors.items()
        if name.startswith(prefix)
    }


def _array(tensor: Tensor) -> NDArray[Any]:
    return tensor.detach().cpu().numpy()


class MultiViewMethod(TrainedMethod[MultiViewNetwork, GraphRunner]):
    """Shared by every method in the frame; a method gives its settings, objective or phases.

    The objective is the paper's, as the settings have it, unless a method gives another.
    """

    balances_error: ClassVar[bool] = True

    def make_objective(self, network: MultiViewNetwork, counts: Tensor) -> Objective:
        """Return the objective for classes with these numbers of training messages [C]."""
        if self.settings.loss.prior_adjustment > 0:
            network.adjust(counts, self.settings.loss.prior_adjustment)
        terms = paper_terms(
            self.settings.loss,
            views=network.views,
            classes=len(counts),
            width=network.encoder.width,
            seed=self.seed,
        )
        return Objective(counts, terms, EvidenceReader(self.settings.loss.fusion))

    def classifying(
        self,
        network: MultiViewNetwork,
        counts: Tensor,
        terms: Mapping[str, Term] | None = None,
        sampler: Sampler | None = None,
    ) -> Objective:
        """Return an objective on logits: ``terms`` (cross-entropy by default) and agreement."""
        self._check_evidence_settings()
        own = terms or {"error": self.error_term(RegisteredLoss("cross-entropy"))}
        both = {**own, **agreement_term(self.settings.loss, network.views)}
        return Objective(counts, both, self.logit_reader(), sampler)

    def _check_evidence_settings(self) -> None:
        """Refuse what only methods with evidence have."""
        for name in ("uncertainty_weights", "prior_adjustment"):
            if getattr(self.settings.loss, name) > 0:
                raise BadSetting(
                    f"loss.{name} cannot be above 0: this method forms no opinions",
                    next_step="leave it out, or choose a method with evidence, such as ucl-ec",
                )

    def error_term(self, loss: Loss) -> Term:
        """Return the term of a class loss that weighs all messages alike, unless +CB is asked."""
        return Term(loss, reduction=error_reduction(self.settings.loss))

    def logit_reader(self) -> LogitReader:
        """Return the reader of the frame's logits."""
        return LogitReader(cosine=self.settings.network.classifier != "linear")

    def balanced_classifier(self, counts: Tensor, settings: TrainingSettings) -> Phase:
        """Return the last phase of decoupled methods: classifiers on a frozen encoder.

        All classes come equally often. A frozen encoder has nothing to agree on: no L_Common.
        """
        objective = cross_entropy_objective(counts, self.logit_reader(), class_aware_batches)
        return Phase(objective, settings, trains="classifier")

    def make_phases(self, network: MultiViewNetwork, counts: Tensor) -> list[Phase]:
        """Train everything with one objective; methods with several phases override this."""
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

    def fit_inputs(self, network: MultiViewNetwork, training_set: TrainingSet) -> None:
        """Learn the scale of the features from the training messages."""
        training = torch.from_numpy(training_set.corpus.features[training_set.training_rows])
        network.encoder.fit_features(training)

    def make_runner(
        self, network: MultiViewNetwork, corpus: Corpus, device: torch.device
    ) -> GraphRunner:
        """Connect the messages in every view."""
        kind = GraphRunner if current_share().size == 1 else SharedGraphRunner
        return kind(
            network,
            corpus,
            self.settings.graph,
            device,
            mixed_precision=self.settings.training.mixed_precision,
            gaps=self.settings.training.gaps,
        )
