"""The whole network: shapes, seeds, options, and new messages against a memory."""

from __future__ import annotations

import pytest
import torch

from eventide.errors import BadSetting
from eventide.graphs.incidence import Incidence
from eventide.graphs.neighbourhood import BucketedNeighbourhood
from eventide.networks.multi_view import MultiViewNetwork, fused_logits
from eventide.networks.settings import NetworkSettings
from eventide.tensors import unit_rows
from eventide.testing.explicit_graphs import ExplicitMemory, ExplicitNeighbourhood

SETS = {
    "hashtag": [["a"], ["a", "b"], ["b"], [], ["c"], ["b", "c"]],
    "user": [[], [], ["u"], ["u"], ["u", "v"], ["v"]],
}
TIMES = [0, 3, 3, 1, 9, 4]
FEATURES = torch.randn(6, 5, generator=torch.Generator().manual_seed(0))


def network(seed: int = 0, **options) -> MultiViewNetwork:
    options = {"layers": (4, 3), "head_hidden": 4} | options
    return MultiViewNetwork(
        features=5, classes=3, views=list(SETS), settings=NetworkSettings(**options), seed=seed
    )


def run(net: MultiViewNetwork, rows=None, features=FEATURES):
    net.encoder.fit_features(features)
    prepared = net.encoder.prepare(features)
    graphs = {view: ExplicitNeighbourhood(Incidence.of(sets), TIMES) for view, sets in SETS.items()}
    return prepared, graphs, net(prepared, graphs, rows)


def test_shapes_and_rows():
    net, rows = network(), torch.tensor([5, 1])
    everything, some = run(net)[2], run(net, rows)[2]
    assert list(some) == ["hashtag", "user"]
    for view, output in some.items():
        assert output.embeddings.shape == (2, 3)
        torch.testing.assert_close(output.embeddings, everything[view].embeddings[rows])
        torch.testing.assert_close(output.evidence, everything[view].logits[rows].clamp(min=0))
    total = some["hashtag"].logits + some["user"].logits
    torch.testing.assert_close(fused_logits(some), total)


def test_one_encoder_and_one_head_per_view():
    net = network()
    assert sum(1 for _ in net.encoder.parameters()) == 4
    hashtag, user = (head.hidden.weight for head in net.heads)
    assert not torch.equal(hashtag, user)


def test_the_seed_decides_all_weights():
    one, same, other = (network(seed).state_dict() for seed in (1, 1, 2))
    assert all(torch.equal(one[name], same[name]) for name in one)
    assert not torch.equal(
        one["encoder.layers.0.transform.weight"], other["encoder.layers.0.transform.weight"]
    )


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"layers": (4,)},
        {"layers": (4, 4, 3)},
        {"residual": True, "final_activation": "elu"},
        {"feature_normalisation": "standard", "dropout": 0.5, "head_dropout": 0.5},
    ],
)
def test_new_messages_read_the_memory_like_an_explicit_layer_would(options):
    net = network(**options).eval()
    prepared, graphs, _ = run(net)
    memory = net.memory(prepared, graphs)
    new = {"hashtag": [["a", "c"], [], ["z"]], "user": [["v"], ["u"], []]}
    times = [2, 2, 7]
    fresh = net.encoder.prepare(torch.randn(3, 5, generator=torch.Generator().manual_seed(4)))
    lookups = {
        view: ExplicitMemory(Incidence.of(sets), TIMES).lookup(Incidence.of(new[view]), times)
        for view, sets in SETS.items()
    }
    outputs = net.forward_new(fresh, memory, lookups)
    # Message by message: join the graph alone, but let nobody else see it.
    for view, sets in SETS.items():
        for index in range(3):
            states = fresh[index : index + 1]
            for depth, layer in enumerate(net.encoder.layers):
                known = memory[view][depth]
                around = [j for j in range(6) if set(new[view][index]) & set(sets[j])]
                stack = torch.cat([known[around], states])
                gaps = torch.tensor([abs(times[index] - TIMES[j]) for j in around] + [0])
                weights = torch.softmax(-layer.rates(states) * gaps, dim=0)
                updated = layer.transform(weights.unsqueeze(0) @ stack)
                updated = updated if layer.own is None else updated + layer.own(states)
                last = depth == len(net.encoder.layers) - 1
                plain = last and net.settings.final_activation == "none"
                states = updated if plain else torch.nn.functional.elu(updated)
            torch.testing.assert_close(
                outputs[view].embeddings[index], states[0], atol=1e-5, rtol=1e-4
            )


def test_an_isolated_new_message_in_an_empty_memory_view_is_itself():
    net = network(layers=(4,)).eval()
    out = net.encoder.forward_new(
        FEATURES,
        [torch.zeros(0, 5)],
        ExplicitMemory(Incidence.of([]), []).lookup(Incidence.of([[]] * 6), TIMES),
    )
    torch.testing.assert_close(out, net.encoder.layers[0].transform(FEATURES))


def test_feature_normalisation():
    shifted = FEATURES * 7 + 3
    shifted[:, 2] = 5.0
    prepared = run(network(feature_normalisation="standard"), features=shifted)[0]
    torch.testing.assert_close(prepared.mean(0), torch.zeros(5), atol=1e-5, rtol=0)
    torch.testing.assert_close(prepared.std(0, correction=0), torch.tensor([1.0, 1, 0, 1, 1]))
    assert torch.equal(run(network(feature_normalisation="unit"))[0], unit_rows(FEATURES))
    assert torch.equal(run(network())[0], FEATURES)


def test_dropout_repeats_by_seed_and_stops_in_evaluation():
    one, same = (run(network(3, dropout=0.5, head_dropout=0.5))[2] for _ in range(2))
    assert torch.equal(one["user"].logits, same["user"].logits)
    net = network(3, dropout=0.5, head_dropout=0.5)
    assert not torch.equal(run(net)[2]["user"].logits, run(net)[2]["user"].logits)
    net.eval()
    assert torch.equal(run(net)[2]["user"].logits, run(net)[2]["user"].logits)


def test_every_parameter_learns():
    net = network(evidence="softplus", residual=True)
    sum(output.evidence.sum() for output in run(net, torch.tensor([1, 4]))[2].values()).backward()
    for name, parameter in net.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.abs().sum() > 0, name


@pytest.mark.parametrize("views", [[], ["a", "a"]])
def test_views_need_names_of_their_own(views):
    with pytest.raises(BadSetting, match="different names"):
        MultiViewNetwork(features=2, classes=2, views=views)


def test_any_view_name_will_do():
    views = ["co.hashtag", "keys", ""]
    assert list(MultiViewNetwork(features=2, classes=2, views=views).views) == views


def test_mixed_precision_stays_close_and_returns_full_precision():
    net = network(evidence="softplus", residual=True)
    exact = run(net)[2]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        mixed = run(net)[2]
    for view, output in mixed.items():
        assert output.embeddings.dtype == output.evidence.dtype == torch.float32
        torch.testing.assert_close(output.evidence, exact[view].evidence, atol=0.05, rtol=0.05)
    sum(output.evidence.sum() for output in mixed.values()).backward()
    assert all(torch.isfinite(p.grad).all() for p in net.parameters())


@pytest.mark.parametrize("layers", [(3,), (4, 3), (4, 4, 3)])
def test_rows_alone_give_the_same_outputs_and_gradients_as_everything(layers):
    net, rows = network(layers=layers, evidence="softplus", residual=True), torch.tensor([5, 1, 5])
    found = []
    for wanted in (None, rows):
        outputs = []
        for sets in SETS.values():
            graph = BucketedNeighbourhood(Incidence.of(sets), TIMES)
            every = net.encoder(FEATURES, graph, wanted)
            outputs.append(every[rows] if wanted is None else every)
        net.zero_grad()
        torch.stack(outputs).square().sum().backward()
        slopes = [p.grad.clone() for p in net.encoder.parameters()]
        found.append((torch.stack(outputs).detach(), slopes))
    (whole, slopes), (some, some_slopes) = found
    torch.testing.assert_close(some, whole)
    for got, expected in zip(some_slopes, slopes, strict=True):
        torch.testing.assert_close(got, expected, atol=1e-5, rtol=1e-4)


def test_without_time_all_neighbours_count_the_same():
    net = network(time_decay="none", layers=(4,))
    embeddings = run(net)[2]["hashtag"].embeddings
    (layer,) = net.encoder.layers
    torch.testing.assert_close(embeddings[0], layer.transform(FEATURES[:2].mean(0)))
