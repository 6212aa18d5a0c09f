"""Readers: nearest centroid written out, and how views fuse."""

from __future__ import annotations

import pytest
import torch

from eventide.networks.multi_view import ViewOutput, fused_logits
from eventide.networks.settings import NetworkSettings
from eventide.opinions.fusion import conflict, fuse
from eventide.training.objectives import objective
from eventide.training.objectives.objective import Objective, Readout
from eventide.training.objectives.output_readers import CentroidReader, EvidenceReader, LogitReader

VIEWS = ("u", "v")


def outputs(messages, seed, settings=None):
    generator = torch.Generator().manual_seed(seed)
    return {
        view: ViewOutput(
            torch.randn(messages, 4, generator=generator),
            torch.randn(messages, 3, generator=generator),
            settings or NetworkSettings(),
        )
        for view in VIEWS
    }


def test_it_reads_by_the_nearest_centroid_of_the_training_messages():
    labels = torch.tensor([2, 0, 1, 0, 2, 1, 0])
    training, new = outputs(7, 0), outputs(5, 1)
    objective = Objective(torch.bincount(labels), {}, CentroidReader(VIEWS, 3, 4))
    objective.observe(training, labels, 1)
    readout = objective.read(new)
    together = torch.zeros(5, 3)
    for view in VIEWS:
        alone = torch.zeros(5, 3)
        for c in range(3):
            members = [z for z, y in zip(training[view].embeddings, labels, strict=True) if y == c]
            centre = sum(members) / len(members)
            for i, z in enumerate(new[view].embeddings):
                alone[i, c] = -((z - centre) ** 2).sum()
        torch.testing.assert_close(readout.views[view].logits, alone)
        together += alone
    torch.testing.assert_close(readout.fused.logits, together)
    assert readout.conflict.tolist() == [0] * 5
    truth = torch.tensor([0, 1, 2, 0, 1])
    expected = -torch.log_softmax(together, dim=1)[torch.arange(5), truth].mean()
    assert objective.reader.error(readout.fused, truth) == pytest.approx(expected.item())


def test_cosine_classifiers_fuse_by_the_mean_and_linear_ones_by_the_sum():
    linear, cosine = outputs(5, 0), outputs(5, 0, NetworkSettings(classifier="cosine"))
    both = linear["u"].logits + linear["v"].logits
    summed = Readout(LogitReader(), linear).fused
    averaged = Readout(LogitReader(cosine=True), cosine).fused
    torch.testing.assert_close(summed.logits, both)
    torch.testing.assert_close(averaged.logits, both / 2)
    torch.testing.assert_close(fused_logits(linear), summed.logits)
    torch.testing.assert_close(fused_logits(cosine), averaged.logits)


def test_evidence_is_read_once_and_fused_by_the_rule_of_the_settings():
    """Opinions are formed once, whoever asks; conflict is Dempster's whatever fuses the views."""
    each = outputs(5, 0)
    formed = []

    class Counting(EvidenceReader):
        def opinions(self, read):
            formed.append(1)
            return super().opinions(read)

    readout = Readout(Counting(), each)
    opinions = list(readout.views.values())
    torch.testing.assert_close(readout.fused.evidence, fuse(opinions).evidence)
    torch.testing.assert_close(readout.conflict, conflict(opinions))
    assert len(formed) == 1
    other = Readout(EvidenceReader("average"), each)
    mean = torch.stack([opinion.belief for opinion in opinions]).mean(dim=0)
    torch.testing.assert_close(other.fused.belief, mean)
    torch.testing.assert_close(other.conflict, readout.conflict)


def test_a_summary_is_formed_some_messages_at_a_time(monkeypatch):
    said = outputs(7, 0, NetworkSettings(evidence="softplus"))
    whole = Readout(EvidenceReader(), said).fused
    monkeypatch.setattr(objective, "AT_ONCE", 3)
    summary = Readout(EvidenceReader(), said).summary
    assert torch.equal(summary.predicted, whole.predicted)
    torch.testing.assert_close(summary.uncertainty, whole.uncertainty)
