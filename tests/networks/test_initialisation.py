"""Weights and dropout come from our own generators and nowhere else."""

from __future__ import annotations

import torch

from eventide.networks.initialisation import Dropout, MaskRows, Noise, seeded_linear


def test_the_global_stream_is_neither_read_nor_moved():
    before = torch.random.get_rng_state()
    make = lambda: seeded_linear(  # noqa: E731
        5, 3, bias=True, generator=torch.Generator().manual_seed(1)
    )
    one, other = make(), make()
    Dropout(0.5, Noise(0))(torch.ones(4, 4))
    assert torch.equal(before, torch.random.get_rng_state())
    assert torch.equal(one.weight, other.weight)
    assert one.weight.abs().max() <= (6 / 8) ** 0.5
    assert one.bias.tolist() == [0, 0, 0]


def test_dropout_thins_in_training_only_and_keeps_the_mean():
    dropout, values = Dropout(0.25, Noise(3)), torch.ones(200, 200)
    thinned = dropout(values)
    assert abs((thinned == 0).float().mean().item() - 0.25) < 0.01
    assert abs(thinned.mean().item() - 1) < 0.02
    assert torch.equal(dropout.eval()(values), values)


def test_noise_resumes_from_its_state():
    noise, like = Noise(7), torch.ones(6, 6)
    noise.keep_mask(like, 0.5)
    state = noise.state
    ahead = [noise.keep_mask(like, 0.5) for _ in range(3)]
    assert not torch.equal(ahead[0], ahead[1])
    resumed = Noise(0)
    resumed.state = state
    assert all(torch.equal(mask, resumed.keep_mask(like, 0.5)) for mask in ahead)


def test_workers_draw_the_rows_of_one_mask():
    """Of more rows than are drawn at a time; rows that nobody reads are kept whole."""
    whole = Noise(5).keep_mask(torch.ones(3_000, 7), 0.5)
    for rank in range(3):
        places = torch.arange(rank, 3_000, 3)
        values = torch.ones(len(places) + 2, 7)
        part = MaskRows(3_000, torch.arange(2, len(values)), places)
        mask = Noise(5).keep_mask(values, 0.5, part)
        assert torch.equal(mask[2:], whole[places])
        assert mask[:2].all()
    nobody = MaskRows(3_000, torch.arange(0), torch.arange(0))
    noise, other = Noise(5), Noise(5)
    assert noise.keep_mask(torch.ones(0, 7), 0.5, nobody).shape == (0, 7)
    other.keep_mask(torch.ones(3_000, 7), 0.5)
    assert torch.equal(noise.state, other.state)  # who owns nothing goes on with the others
