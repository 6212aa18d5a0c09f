"""transformers and spacy at their import boundary: absent, without the checkpoint, and present."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
import torch

from eventide.errors import BadSetting, MissingDependency, UnreadableSource
from eventide.features.encoders import State, encoder

MESSAGES = pl.DataFrame({"id": ["a", "b", "c"], "text": ["ab", "abcd", "🔥"]})


@pytest.mark.parametrize("package", ["transformers", "spacy"])
def test_an_absent_package_names_its_extra(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingDependency, match=rf"eventide\[{package}\]"):
        encoder(f"{package}:some-model").encode(MESSAGES)


class FakeModel(torch.nn.Module):
    """Hidden state of a token: its id and its square; padding (id 0) gets nonsense."""

    config = SimpleNamespace(hidden_size=2)

    def __init__(self, scale: float) -> None:
        super().__init__()
        self.scale = torch.nn.Parameter(torch.tensor(scale))

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> Any:
        ids = torch.where(input_ids == 0, 99, input_ids).float() * self.scale
        return SimpleNamespace(last_hidden_state=torch.stack((ids, ids**2), dim=-1))


def fake_tokenizer(texts: list[str], **settings: Any) -> dict[str, torch.Tensor]:
    assert settings["padding"]
    assert settings["truncation"]
    longest = max(map(len, texts))
    ids = torch.tensor([[ord(c) - 96 for c in t] + [0] * (longest - len(t)) for t in texts])
    return {"input_ids": ids, "attention_mask": (ids > 0).long()}


def fake_transformers(scale: float = 1.0) -> SimpleNamespace:
    def load_model(name: str, *, use_safetensors: bool) -> FakeModel:
        assert use_safetensors
        if name != "tiny":
            raise OSError(f"{name} is not a local folder\nand not a valid model identifier")
        return FakeModel(scale)

    return SimpleNamespace(
        AutoModel=SimpleNamespace(from_pretrained=load_model),
        AutoTokenizer=SimpleNamespace(from_pretrained=lambda name: fake_tokenizer),
    )


def test_transformers_averages_over_tokens_not_padding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", fake_transformers())
    vectors = encoder("transformers:tiny").encode(MESSAGES)
    means = np.array([[1.5, 2.5], [2.5, 7.5]])
    np.testing.assert_allclose(vectors[:2], means / np.linalg.norm(means, axis=1)[:, None], 1e-6)
    assert not vectors[2].any()


def test_transformers_names_a_missing_checkpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", fake_transformers())
    with pytest.raises(MissingDependency, match="'other'"):
        encoder("transformers:other").encode(MESSAGES)


def test_transformers_notices_changed_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", fake_transformers())
    state = encoder("transformers:tiny").state()
    encoder("transformers:tiny").restore(state)
    monkeypatch.setitem(sys.modules, "transformers", fake_transformers(scale=2.0))
    with pytest.raises(UnreadableSource, match="sha256"):
        encoder("transformers:tiny").restore(state)


class FakePipeline:
    """Vector of a document: its length, and whether it went through the whole pipeline."""

    def __init__(self, width: int, version: str = "1") -> None:
        self.vocab = SimpleNamespace(vectors_length=width)
        self.meta = {"lang": "xx", "name": "tiny", "version": version}

    def make_doc(self, text: str) -> Any:
        return SimpleNamespace(vector=np.array([len(text), 0.0]))

    def pipe(self, texts: list[str], batch_size: int) -> Any:
        for text in texts:
            yield SimpleNamespace(vector=np.array([len(text), 1.0]))


def fake_spacy(pipeline: Any) -> SimpleNamespace:
    def load(name: str, exclude: list[str]) -> Any:
        if name != "tiny":
            raise OSError(f"[E050] Can't find model '{name}'.")
        return pipeline

    return SimpleNamespace(load=load)


@pytest.mark.parametrize(("width", "second"), [(2, 0.0), (0, 1.0)])
def test_spacy_runs_the_pipeline_only_where_needed(
    width: int, second: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "spacy", fake_spacy(FakePipeline(width)))
    found = encoder("spacy:tiny")
    assert found.encode(MESSAGES).tolist() == [[2, second], [4, second], [0, 0]]
    assert found.width == 2


def test_spacy_names_a_missing_pipeline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy", fake_spacy(FakePipeline(2)))
    with pytest.raises(MissingDependency, match="'other' is not installed"):
        encoder("spacy:other").encode(MESSAGES)


def test_spacy_notices_another_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy", fake_spacy(FakePipeline(2)))
    state: State = encoder("spacy:tiny").state()
    encoder("spacy:tiny").restore(state)
    monkeypatch.setitem(sys.modules, "spacy", fake_spacy(FakePipeline(2, version="2")))
    with pytest.raises(UnreadableSource, match="pipeline"):
        encoder("spacy:tiny").restore(state)


def test_a_spacy_pipeline_without_vectors_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    pipeline = FakePipeline(2)
    pipeline.make_doc = lambda text: SimpleNamespace(vector=np.zeros(0))  # type: ignore[method-assign]
    monkeypatch.setitem(sys.modules, "spacy", fake_spacy(pipeline))
    with pytest.raises(BadSetting, match="gives no vectors"):
        encoder("spacy:tiny").encode(MESSAGES)


def test_vectors_that_are_not_finite_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", fake_transformers(scale=float("nan")))
    with pytest.raises(UnreadableSource, match="message a"):
        encoder("transformers:tiny").encode(MESSAGES)
