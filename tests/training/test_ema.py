"""The average of the weights follows its formula, and what is kept is the average."""

import numpy as np
import pytest
import torch

from eventide.model import EventClassifier
from eventide.training.ema import Ema


def test_the_average_by_hand():
    random = np.random.default_rng(0)
    weight = torch.nn.Parameter(torch.zeros(3, dtype=torch.float64))
    average = Ema([weight], decay=0.75)
    expected = np.zeros(3)
    for step in range(1, 9):
        value = random.normal(size=3)
        weight.data.copy_(torch.from_numpy(value))
        average.update()
        kept = min(0.75, 1 - 1 / step)
        expected = kept * expected + (1 - kept) * value
        with average.in_use():
            np.testing.assert_allclose(weight.detach().numpy(), expected, atol=1e-12)
        np.testing.assert_array_equal(weight.detach().numpy(), value)


def test_weights_come_back_after_an_error():
    weight = torch.nn.Parameter(torch.ones(1))
    average = Ema([weight], decay=0.5)
    weight.data.fill_(3.0)
    with pytest.raises(RuntimeError), average.in_use():
        raise RuntimeError
    assert weight.item() == 3.0


def test_frozen_weights_and_no_decay_cost_nothing():
    frozen = torch.nn.Parameter(torch.ones(1), requires_grad=False)
    assert not Ema([frozen], decay=0.5).weights
    assert not Ema([torch.nn.Parameter(torch.ones(1))], decay=0.0).weights


def test_training_itself_does_not_see_the_average(small_sample):
    """CE looks at no class statistics, so its steps are the same; what is kept is not."""
    quick = {"training__epochs": 3, "training__batch_size": 64, "encoder": "tfidf-svd:16"}
    plain, averaged = (
        EventClassifier(method="ce", training__ema_decay=decay, **quick).fit(small_sample)
        for decay in (0.0, 0.9)
    )
    assert [row["total"] for row in plain.history_] == [row["total"] for row in averaged.history_]
    assert any(
        not np.array_equal(value, averaged.method_.state()[name])
        for name, value in plain.method_.state().items()
    )
