"""Prototypes on the unit sphere: where they start, and where every step of training leaves them."""

from __future__ import annotations

import math

import pytest
import torch

from eventide import EventClassifier
from eventide.losses.contrastive.prototypical import LearnedPrototypes, UnitPrototypes


def lengths(prototypes):
    return [
        math.sqrt(sum(value**2 for value in row))
        for vectors in prototypes.vectors
        for row in vectors.tolist()
    ]


def test_prototypes_start_and_stay_on_the_sphere():
    one, two = (torch.Generator().manual_seed(3) for _ in range(2))
    free = LearnedPrototypes(("u", "v"), 4, 5, generator=one)
    unit = UnitPrototypes(("u", "v"), 4, 5, generator=two)
    assert lengths(unit) == pytest.approx([1] * 8)
    for before, vectors in zip(free.vectors, unit.vectors, strict=True):
        cosine = torch.cosine_similarity(before, vectors, dim=1)  # the direction is the same
        torch.testing.assert_close(cosine, torch.ones(4))
        vectors.data *= 7
    unit.project()
    assert lengths(unit) == pytest.approx([1] * 8)
    moved = LearnedPrototypes(("u",), 2, 2, generator=one)
    kept = moved.of("u").clone()
    moved.project()
    assert torch.equal(moved.of("u"), kept)


def test_training_brings_them_back_after_every_step(small_sample):
    quick = {"training__epochs": 2, "training__batch_size": 64, "encoder": "tfidf-svd:8"}
    model = EventClassifier(
        method="ucl", loss__prototypes="unit", training__ema_decay=0.0, **quick
    ).fit(small_sample)
    found = model.method_.objective.terms["contrastive"].loss.prototypes
    assert lengths(found) == pytest.approx([1] * len(lengths(found)), abs=1e-6)
    assert all("contrastive" in row for row in model.history_)
