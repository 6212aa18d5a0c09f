"""A deep ensemble: cross-entropy models that differ in initialisation and order of the batches.

Lakshminarayanan et al., "Simple and scalable predictive uncertainty estimation using deep
ensembles" (2017): p(y | x) = 1/M * sum over members m of softmax(logits_m(x)).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from eventide.corpus.corpus import Corpus, Ints
from eventide.corpus.training_set import TrainingSet
from eventide.losses.loss_inputs import Outputs
from eventide.methods.long_tail.cross_entropy import CrossEntropy
from eventide.methods.method import Prediction, ViewPrediction
from eventide.networks.multi_view import MultiViewNetwork
from eventide.opinions.categorical import Categorical
from eventide.opinions.opinion import OpinionLike
from eventide.settings import Settings
from eventide.training.checkpoints import Checkpoints, Row
from eventide.training.loop import TrainingRun, Watch
from eventide.training.phases import Phase

MEMBERS = 5


def member_seeds(seed: int) -> list[int]:
    """Return one seed per member; the first is the run's own, so the first member is its ``ce``.

    >>> member_seeds(3)[:2]
    [3, 3746004709]
    """
    drawn = np.random.SeedSequence([abs(seed), MEMBERS]).generate_state(MEMBERS - 1)
    return [seed, *(int(each) for each in drawn)]


@dataclass(frozen=True)
class MemberCheckpoints(Checkpoints):
    """The checkpoints of one member: where others keep their phases one after the other."""

    before: int = 0
    """How many members come before this one; each has one phase."""

    def of_phase(self, number: int) -> Checkpoints:
        """Return the folder of this member."""
        return replace(self, phase=self.before + number)


class CeEnsemble:
    """Five ``ce`` members, each with its best epoch; probabilities are averaged, not logits.

    [P] Five members on all training messages, the mean of their probabilities. [C] No adversarial
    examples; a view's prediction is the mean of the members' probabilities for that view; the
    uncertainty is the entropy of the mean. Everything else is as ``ce`` has it.
    """

    defaults: ClassVar[Mapping[str, Any]] = CrossEntropy.defaults
    note: ClassVar[str] = f"{MEMBERS} members"

    def __init__(self, settings: Settings, seed: int) -> None:
        self.settings = settings
        self.seed = seed
        self.members = [CrossEntropy(settings, each) for each in member_seeds(seed)]

    def make_phases(self, network: MultiViewNetwork, counts: Tensor) -> list[Phase]:
        """Return the phases of a member."""
        return self.members[0].make_phases(network, counts)

    def fit(
        self, training_set: TrainingSet, watch: Watch, checkpoints: Checkpoints | None
    ) -> TrainingRun:
        """Train the members in turn; a row says which it belongs to, and epochs count through."""
        history: list[Row] = []
        best, notes = 0, dict[str, None]()
        for index, member in enumerate(self.members):
            done = len(history)

            def named(row: Row, done: int = done, number: int = index + 1) -> Row:
                return row | {"epoch": row["epoch"] + done, "member": number}

            run = member.fit(
                training_set,
                lambda row, named=named: watch(named(row)),  # type: ignore[misc]
                None if checkpoints is None else _of_member(checkpoints, index),
            )
            history += [named(row) for row in run.history]
            best = done + run.best_epoch
            notes |= dict.fromkeys(run.notes)
        return TrainingRun(history, best, tuple(notes))

    def predict(self, rows: Ints) -> Prediction:
        """Predict remembered messages by their row."""
        outputs = [member.runner.evaluate(rows) for member in self.members]
        return self._together(outputs, self.members[0].runner.neighbours(rows))

    def predict_new(self, corpus: Corpus) -> Prediction:
        """Predict new messages by what the memory holds."""
        found = [member.runner.look_up(corpus) for member in self.members]
        outputs = [
            member.runner.evaluate_new(each)
            for member, each in zip(self.members, found, strict=True)
        ]
        return self._together(outputs, self.members[0].runner.neighbours_new(found[0]))

    def state(self) -> dict[str, NDArray[Any]]:
        """Return the weights of every member, its number before each name."""
        return _numbered([member.state() for member in self.members])

    def restore(self, arrays: Mapping[str, NDArray[Any]], corpus: Corpus) -> None:
        """Rebuild every member."""
        for index, member in enumerate(self.members):
            member.restore(_of_number(arrays, index), corpus)

    def memory_states(self) -> dict[str, NDArray[np.float32]]:
        """Return what new messages read of the memory, member by member."""
        return _numbered([member.memory_states() for member in self.members])

    def recall_states(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take it back; raise ValueError where something belongs to no member."""
        parts = [_of_number(arrays, index) for index in range(MEMBERS)]
        if sum(map(len, parts)) != len(arrays):
            raise ValueError("stored states that belong to no member")
        for member, part in zip(self.members, parts, strict=True):
            member.recall_states(part)

    def _together(self, outputs: Sequence[Outputs], neighbours: Mapping[str, Ints]) -> Prediction:
        readouts = [
            member.objective.read(each) for member, each in zip(self.members, outputs, strict=True)
        ]
        fused = mean_of([each.fused for each in readouts])
        views = {
            view: mean_of([each.views[view] for each in readouts]) for view in readouts[0].views
        }
        probability = _array(fused.probability)
        return Prediction(
            predicted=_array(fused.predicted),
            undecided=np.zeros(len(probability), dtype=bool),
            belief=probability,
            probability=probability,
            uncertainty=_array(fused.uncertainty),
            conflict=np.zeros(len(probability)),
            views={
                view: ViewPrediction(
                    _array(each.predicted), _array(each.uncertainty), neighbours[view]
                )
                for view, each in views.items()
            },
        )


def mean_of(opinions: Sequence[OpinionLike]) -> Categorical:
    """Average class probabilities [B, C], by their logarithms.

    >>> sure, open_ = (Categorical(torch.tensor([each])) for each in ([9e9, 0.0], [0.0, 0.0]))
    >>> mean_of([sure, open_]).probability
    tensor([[0.7500, 0.2500]], dtype=torch.float64)
    """
    logs = torch.stack([each.log_probability for each in opinions])  # type: ignore[attr-defined]
    return Categorical(torch.logsumexp(logs, dim=0) - math.log(len(opinions)))


def _of_member(checkpoints: Checkpoints, index: int) -> MemberCheckpoints:
    return MemberCheckpoints(
        checkpoints.path,
        checkpoints.signature,
        checkpoints.every,
        checkpoints.resume_run,
        before=index,
    )


def _numbered(parts: Sequence[Mapping[str, NDArray[Any]]]) -> dict[str, NDArray[Any]]:
    return {
        f"member{index}.{name}": array
        for index, part in enumerate(parts, start=1)
        for name, array in part.items()
    }


def _of_number(arrays: Mapping[str, NDArray[Any]], index: int) -> dict[str, NDArray[Any]]:
    start = f"member{index + 1}."
    return {
        name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)
    }


def _array(tensor: Tensor) -> NDArray[Any]:
    return tensor.detach().cpu().numpy()
