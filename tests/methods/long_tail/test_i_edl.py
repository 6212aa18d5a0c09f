"""I-EDL: its terms and their weights, and that it learns."""

import torch

from eventide.losses.evidence_calibration import misleading_divergence
from eventide.losses.fisher_information import information, information_error
from eventide.methods.long_tail.i_edl import IEdl
from eventide.model import EventClassifier
from eventide.networks.multi_view import MultiViewNetwork, ViewOutput
from eventide.settings import preset, resolve
from objective_steps import inputs_of, values_of


def test_terms_and_weights_are_the_papers():
    method = IEdl(resolve(preset("default"), IEdl.defaults, {"network.layers": (7, 6)}), seed=0)
    network = MultiViewNetwork(
        features=3, classes=3, views=("u", "v"), settings=method.settings.network, seed=0
    )
    objective = method.make_objective(network, torch.tensor([6, 3, 1]))
    embeddings = torch.randn(2, 4, 6, generator=torch.Generator().manual_seed(0))
    outputs = {
        view: ViewOutput(each, head(each), network.settings)
        for view, each, head in zip("uv", embeddings, network.heads, strict=True)
    }
    labels = torch.tensor([0, 1, 2, 0])
    fused = inputs_of(objective, outputs, labels, 5).fused
    values = values_of(objective, outputs, labels, 5)
    torch.testing.assert_close(values["error"], information_error(fused, labels))
    torch.testing.assert_close(values["information"], information(fused))
    torch.testing.assert_close(values["calibration"], 0.2 * misleading_divergence(fused, labels))
    weights = objective.weights(5)
    assert weights == {"error": 1, "information": 0.005, "calibration": 1.0, "agreement": 0.5}


def test_it_learns(small_sample):
    model = EventClassifier(
        method="i-edl", training__epochs=20, training__batch_size=64, encoder="tfidf-svd:16"
    ).fit(small_sample)
    assert model.score(small_sample.filter(split="test")) > 0.6
