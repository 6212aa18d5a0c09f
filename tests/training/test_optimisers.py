"""The optimiser is a choice; plain SGD with momentum steps as its formula says."""

from itertools import pairwise

import pytest
import torch

from eventide.errors import BadSetting
from eventide.settings import resolve
from eventide.training.optimisers import learning_rate, make_optimiser
from eventide.training.settings import TrainingSettings


def test_sgd_with_momentum_and_decay_by_hand():
    weight = torch.nn.Parameter(torch.tensor([2.0, -1.0]))
    settings = TrainingSettings(optimiser="sgd", momentum=0.5, learning_rate=0.1, weight_decay=0.01)
    optimiser = make_optimiser([weight], settings)
    value, speed = [2.0, -1.0], [0.0, 0.0]
    for _ in range(4):
        optimiser.zero_grad()
        weight.square().sum().backward()
        optimiser.step()
        for k in range(2):
            speed[k] = 0.5 * speed[k] + 2 * value[k] + 0.01 * value[k]
            value[k] -= 0.1 * speed[k]
    assert weight.tolist() == pytest.approx(value)


def test_adam_is_the_default_and_others_are_refused():
    optimiser = make_optimiser([torch.nn.Parameter(torch.zeros(1))], TrainingSettings())
    assert isinstance(optimiser, torch.optim.Adam)
    with pytest.raises(BadSetting, match=r"training\.optimiser"):
        resolve({"training.optimiser": "newton"})


def test_the_cosine_starts_at_the_rate_and_falls_every_epoch():
    settings = TrainingSettings(epochs=7, learning_rate=0.2, schedule="cosine")
    rates = [learning_rate(settings, epoch) for epoch in range(1, 8)]
    assert rates[0] == 0.2
    assert all(later < earlier for earlier, later in pairwise(rates))
    assert rates[-1] > 0
