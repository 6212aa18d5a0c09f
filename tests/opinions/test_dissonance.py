"""Dissonance of many messages at a time, against the class-by-class one of an opinion."""

import time

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from eventide.opinions.dissonance import dissonance_of
from eventide.opinions.opinion import Opinion


@given(st.integers(0, 2**32 - 1), st.integers(2, 40), st.floats(-3, 6))
@settings(max_examples=60)
def test_it_is_what_an_opinion_says(seed, classes, scale):
    rng = np.random.default_rng(seed)
    evidence = np.exp(rng.normal(size=(7, classes)) * scale) * (rng.random((7, classes)) < 0.7)
    opinion = Opinion.from_evidence(torch.from_numpy(evidence))
    found = dissonance_of(opinion.belief.numpy())
    np.testing.assert_allclose(found, opinion.dissonance.numpy(), atol=1e-12)
    assert ((found >= 0) & (found <= 1 + 1e-12)).all()


def test_five_hundred_classes_vague_and_firm():
    rng = np.random.default_rng(0)
    evidence = np.concatenate([rng.random((40, 500)) * 9, np.exp(rng.normal(size=(40, 500)) * 8)])
    opinion = Opinion.from_evidence(torch.from_numpy(evidence))
    belief = opinion.belief.numpy()
    expected, taken = timed(lambda: opinion.dissonance.numpy())
    found, ours = timed(lambda: dissonance_of(belief))
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert ours < taken
    firm = np.zeros((2_000, 500))
    firm[:, :3] = 0.6, 0.2, 1e-3
    _, quick = timed(lambda: dissonance_of(firm))
    assert quick < 1.0  # about 0.05 s: a message needs its few largest beliefs alone


def timed(work):
    started = time.perf_counter()
    return work(), time.perf_counter() - started


def test_nobody_and_nothing():
    assert dissonance_of(np.zeros((0, 3))).tolist() == []
    assert dissonance_of(np.zeros((2, 3))).tolist() == [0, 0]
