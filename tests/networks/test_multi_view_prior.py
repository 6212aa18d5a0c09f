"""Prior adjustment: in training alone, and divided among the views."""

from __future__ import annotations

import math

import torch

from eventide.networks.multi_view import MultiViewNetwork

COUNTS = torch.tensor([80, 15, 5])


def test_the_prior_is_added_while_training_and_never_to_a_prediction():
    network = MultiViewNetwork(features=4, classes=3, views=("a", "b"))
    head, embeddings = network.heads[0], torch.randn(2, network.encoder.width)
    plain = head.train()(embeddings)
    network.adjust(COUNTS, strength=0.5)
    logs = [0.25 * math.log(int(n) / 100) for n in COUNTS]
    expected = torch.tensor([each - sum(logs) / 3 for each in logs])
    torch.testing.assert_close(head(embeddings) - plain, expected.expand(2, 3))
    torch.testing.assert_close(head.eval()(embeddings), plain)
