"""One worker alone: nothing is divided, asked or added up."""

import numpy as np
import torch
from torch import nn

from eventide.runtime.share import Share, current_share, shared_by


def test_one_worker_owns_everything_and_asks_nobody():
    share, values = current_share(), torch.arange(4.0)
    rows = np.array([3, 1, 2])
    assert share.own(rows) is rows
    for same in (share.sum(values), share.largest(values), share.total(values)):
        assert same is values
    assert share.whole(values, rows) is values
    assert share.once(values) is values
    layer = nn.Linear(2, 1)
    layer(torch.ones(1, 2)).sum().backward()
    before = layer.weight.grad.clone()
    share.add_up_gradients(layer, nn.Linear(1, 1))
    assert torch.equal(layer.weight.grad, before)


def test_every_row_has_one_owner_and_a_place():
    rows = np.arange(11)
    owned = [Share(rank, 3).own(rows) for rank in range(3)]
    assert sorted(np.concatenate(owned).tolist()) == rows.tolist()
    for rank, mine in enumerate(owned):
        assert Share(rank, 3).places(mine).tolist() == list(range(len(mine)))


def test_what_all_workers_read_alike_counts_once():
    weights = torch.ones(3, requires_grad=True)
    for rank in range(4):
        (2 * Share(rank, 4).once(weights)).sum().backward()
    assert weights.grad.tolist() == [2.0, 2.0, 2.0]


def test_a_share_holds_only_inside():
    with shared_by(Share(1, 2)) as share:
        assert current_share() is share
    assert current_share().size == 1
