"""``eventide assign`` does each thing once, and nothing that only training needs."""

import polars as pl
import pytest

from calls import counted
from eventide.data.intake import read
from eventide.data.whole_source import collected
from eventide.features.elements.fill import with_elements
from eventide.features.encoders.text_encoder import TextEncoder
from eventide.graphs.keys import element_keys
from eventide.graphs.neighbourhood import BucketedNeighbourhood
from eventide.model import EventClassifier, load_model
from eventide.model.forget import forget
from eventide.networks.encoder import SharedEncoder
from eventide.networks.multi_view import MultiViewNetwork
from eventide.opinions.fusion import fuse
from eventide.runners.sampled_runner import SampledRunner

ONCE = {
    "read": read,
    "collected": collected,
    "with_elements": with_elements,
    "TextEncoder.encode": TextEncoder.encode,
    "MultiViewNetwork.forward_new": MultiViewNetwork.forward_new,
}
HASHES = {f"element_keys({kind})": 1 for kind in ("id", "text", "user")}
TRAINING = (
    BucketedNeighbourhood.__init__,
    MultiViewNetwork.memory,
    SharedEncoder.memory,
    SampledRunner._sample_memory,
    SampledRunner._run_memory,
)


def elements(calls):
    """How often elements of a column were hashed: no column more than once for each view."""
    return {name: n for name, n in calls.items() if name.startswith("element_keys")}


@pytest.mark.parametrize("as_new", [False, True])
def test_each_step_happens_once(invoke, trained, as_new):
    words = ["--as-new"] if as_new else []
    with counted(*ONCE.values(), element_keys, *TRAINING) as calls:
        done = invoke("assign", trained / "model", trained / "new.jsonl", *words)
    assert done.exit_code == 0
    hashed = elements(calls)
    assert {name: calls[name] for name in ONCE} == dict.fromkeys(ONCE, 1)
    assert {name: hashed[name] for name in HASHES} == HASHES
    assert set(hashed.values()) == {1}  # no column is in two views
    assert not [name for name in calls if name not in ONCE and name not in hashed]


def test_opinions_of_a_frame_take_each_step_once(trained):
    model = load_model(trained / "model")
    new = pl.read_ndjson(trained / "new.jsonl")
    for frame in (new, new.head(1).to_dicts()):
        with counted(*ONCE.values(), element_keys, *TRAINING) as calls:
            model.opinions(frame)
        assert calls["read"] == calls["with_elements"] == calls["TextEncoder.encode"] == 1
        assert set(elements(calls).values()) == {1}
        assert not [each for each in TRAINING if calls[each.__qualname__]]


def test_views_are_fused_once(trained):
    model = load_model(trained / "model")
    with counted(fuse) as calls:
        model.opinions(trained / "new.jsonl")
    assert calls["fuse"] == 1


def test_an_explanation_fills_in_elements_once(trained):
    model = load_model(trained / "model")
    with counted(read, with_elements) as calls:
        model.explain(trained / "new.jsonl")
    assert calls == {"read": 1, "with_elements": 1}


@pytest.mark.parametrize("as_new", [False, True])
def test_an_evaluation_hashes_ids_and_texts_once(trained, as_new):
    model = load_model(trained / "model")
    with counted(read, with_elements, element_keys) as calls:
        model.evaluate(trained / "new.jsonl", as_new=as_new)
    assert calls["read"] == calls["with_elements"] == 1
    assert set(elements(calls).values()) == {1}


@pytest.mark.parametrize("method", ["ucl-ec", "pp-gcn", "kpgnn", "mvgan"])
def test_a_saved_model_assigns_without_a_training_graph(method, small_sample, tmp_path):
    """Nor after messages were forgotten; rows of the memory are what a graph is built for."""
    new = small_sample.head(9).with_columns(id=pl.col("id") + "-new")
    model = EventClassifier(
        method=method, encoder="tfidf-svd:16", training__epochs=1, training__batch_size=64
    )
    path = model.fit(small_sample).save(tmp_path / "model")
    for _ in range(2):
        loaded = load_model(path)
        with counted(*TRAINING) as calls:
            loaded.predict(new)
            loaded.predict(new.head(1))
        assert not calls
        with counted(*TRAINING) as calls:
            loaded.predict(small_sample.tail(5))
        assert calls
        forget(path, ids=small_sample["id"].head(3).to_list())
        small_sample = small_sample[3:]
