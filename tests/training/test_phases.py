"""Phases: each from the best of the one before, frozen parts at rest, resumable at any epoch."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from eventide.losses.terms import RegisteredLoss, Term
from eventide.networks.trainable import TrainableNetwork
from eventide.training.batches import class_aware_batches
from eventide.training.checkpoints import Checkpoints
from eventide.training.objectives.objective import Objective
from eventide.training.objectives.output_readers import CentroidReader, LogitReader
from eventide.training.phases import Phase, share, train_phases
from eventide.training.settings import TrainingSettings

EPOCHS = TrainingSettings(epochs=3, batch_size=64, learning_rate=3e-3)


class PullTogether(torch.nn.Module):
    """Pull messages to their class's centroid, with a learned strength."""

    def __init__(self, reader):
        super().__init__()
        self.reader = (reader,)
        self.strength = torch.nn.Parameter(torch.ones(len(reader.views)))

    def forward(self, inputs):
        pulls = [
            (each - centroids[inputs.labels]).square().sum(dim=1)
            for each, centroids in zip(inputs.embeddings, self.reader[0].centroids, strict=True)
        ]
        return (torch.stack(pulls) * self.strength.square().unsqueeze(1)).sum(dim=0)


def phases(network, training_set):
    counts = torch.from_numpy(training_set.class_counts)
    reader = CentroidReader(network.views, len(counts), network.encoder.width)
    error, agreement = RegisteredLoss("cross-entropy"), RegisteredLoss("agreement")
    first = {"error": Term(error), "agreement": Term(agreement, 0.5)}
    second = {"representation": Term(PullTogether(reader)), "agreement": Term(agreement, 0.1)}
    last = Objective(counts, {"error": Term(error)}, LogitReader(), class_aware_batches)
    return [
        Phase(Objective(counts, first, LogitReader()), EPOCHS),
        Phase(Objective(counts, second, reader), EPOCHS, trains="encoder"),
        Phase(last, EPOCHS, trains="classifier"),
    ]


def weights(runner, each):
    objectives = {
        f"{number}.{name}": value
        for number, phase in enumerate(each)
        for name, value in phase.objective.state_dict().items()
    }
    return {**runner.network.state_dict(), **objectives}


def without_clock(history):
    return [{name: value for name, value in row.items() if name != "seconds"} for row in history]


def part(runner, name):
    return {k: v.clone() for k, v in runner.network.state_dict().items() if k.startswith(name)}


def test_frozen_parts_do_not_move_and_the_others_do(make_runner, small_training_set):
    runner = make_runner()
    for phase, still, moved in zip(
        phases(runner.network, small_training_set)[1:], ("heads", "encoder"), ("encoder", "heads"),
        strict=True,
    ):  # fmt: skip
        before, loose = part(runner, still), part(runner, moved)
        train_phases(runner, [phase], small_training_set, seed=0)
        after, changed = part(runner, still), part(runner, moved)
        assert all(torch.equal(before[name], after[name]) for name in before)
        learned = [name for name in loose if not name.endswith(("mean", "scale"))]
        assert not any(torch.equal(loose[name], changed[name]) for name in learned)


def test_a_frozen_part_runs_as_in_evaluation(make_runner):
    network = make_runner().network
    network.train_only("classifier")
    network.train()
    assert not any(module.training for module in network.encoder.modules())
    assert all(module.training for module in network.heads.modules())
    assert not any(each.requires_grad for each in network.encoder.parameters())
    network.train_only("encoder")
    network.train()
    assert all(module.training for module in network.encoder.modules())
    assert not any(module.training for module in network.heads.modules())
    network.train_only("all")
    network.train()
    assert all(module.training for module in network.modules())
    assert all(each.requires_grad for each in network.parameters())
    network.eval()
    assert not any(module.training for module in network.modules())


def test_a_network_must_name_its_parts():
    from eventide.networks.initialisation import Noise

    with pytest.raises(NotImplementedError):
        TrainableNetwork(Noise(0)).train_only("encoder")


def test_epochs_count_through_and_rows_say_their_phase(make_runner, small_training_set):
    runner, seen = make_runner(), []
    each = phases(runner.network, small_training_set)
    run = train_phases(runner, each, small_training_set, seed=0, watch=seen.append)
    assert [row["epoch"] for row in run.history] == list(range(1, 10))
    assert [row.get("phase", 1) for row in run.history] == [1] * 3 + [2] * 3 + [3] * 3
    assert seen == run.history
    assert 7 <= run.best_epoch <= 9


def test_a_phase_starts_from_the_best_of_the_one_before(make_runner, small_training_set):
    """The same three phases, one call each: every call ends in its best epoch."""
    whole, apart = make_runner(), make_runner()
    first, second = (
        phases(whole.network, small_training_set),
        phases(apart.network, small_training_set),
    )
    train_phases(whole, first, small_training_set, seed=0)
    for phase in second:
        run = train_phases(apart, [phase], small_training_set, seed=0)
        best = max(row["validation_accuracy"] for row in run.history)
        assert run.history[run.best_epoch - 1]["validation_accuracy"] == best
    one, other = weights(whole, first), weights(apart, second)
    assert all(torch.equal(one[name], other[name]) for name in one)


class Killed(Exception):
    pass


@pytest.mark.parametrize(("killed_at", "every"), [(2, 1), (3, 1), (6, 2), (8, 1)])
def test_resuming_in_any_phase_ends_in_the_same_weights(
    make_runner, small_training_set, tmp_path, killed_at, every
):
    def run(resume, watch):
        runner = make_runner()
        each = phases(runner.network, small_training_set)
        kept = Checkpoints(tmp_path / "c", {"run": 1}, every, resume)
        history = train_phases(
            runner, each, small_training_set, seed=0, watch=watch, checkpoints=kept
        ).history
        return weights(runner, each), history

    def kill(row):
        if row["epoch"] == killed_at:
            raise Killed

    runner = make_runner()
    each = phases(runner.network, small_training_set)
    expected_history = train_phases(runner, each, small_training_set, seed=0).history
    expected = weights(runner, each)
    with pytest.raises(Killed):
        run(False, kill)
    got, history = run(True, lambda row: None)
    assert expected.keys() == got.keys()
    for name in expected:
        np.testing.assert_array_equal(expected[name].numpy(), got[name].numpy(), err_msg=name)
    assert without_clock(history) == without_clock(expected_history)


def test_a_share_of_the_epochs_is_at_least_one():
    assert [share(TrainingSettings(epochs=20), part).epochs for part in (0.4, 0.25)] == [8, 5]
    assert share(TrainingSettings(epochs=1), 0.2).epochs == 1
