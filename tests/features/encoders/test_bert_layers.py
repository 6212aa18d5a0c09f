"""The plain-torch BERT against a naive forward pass, padding, loading, and bad checkpoints."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from eventide.errors import BadSetting, MissingDependency, UnreadableSource
from eventide.features.encoders.bert_layers import BertConfig, BertEncoder, own_name

CONFIG = {
    "vocab_size": 20,
    "hidden_size": 8,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 12,
    "max_position_embeddings": 10,
    "hidden_act": "gelu",
    "model_type": "bert",
}


def published_tensors() -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=generator) * 0.5

    tensors = {
        "embeddings.word_embeddings.weight": normal(20, 8),
        "embeddings.position_embeddings.weight": normal(10, 8),
        "embeddings.token_type_embeddings.weight": normal(2, 8),
        "embeddings.LayerNorm.weight": normal(8),
        "embeddings.LayerNorm.bias": normal(8),
        "pooler.dense.weight": normal(8, 8),
    }
    for number in range(2):
        layer = f"encoder.layer.{number}."
        for part in ("query", "key", "value"):
            tensors[f"{layer}attention.self.{part}.weight"] = normal(8, 8)
            tensors[f"{layer}attention.self.{part}.bias"] = normal(8)
        shapes = {"attention.output": (8, 8), "intermediate": (12, 8), "output": (8, 12)}
        for part, shape in shapes.items():
            tensors[f"{layer}{part}.dense.weight"] = normal(*shape)
            tensors[f"{layer}{part}.dense.bias"] = normal(shape[0])
            if part != "intermediate":
                tensors[f"{layer}{part}.LayerNorm.weight"] = normal(8)
                tensors[f"{layer}{part}.LayerNorm.bias"] = normal(8)
    return tensors


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    tensors = {f"bert.{key}": value for key, value in published_tensors().items()}
    save_file(tensors, tmp_path / "model.safetensors")
    return tmp_path


def naive(ids: list[int]) -> torch.Tensor:
    """One text, no batch, no mask, formulas written out."""
    t = published_tensors()

    def norm(x: torch.Tensor, name: str) -> torch.Tensor:
        centred = x - x.mean(-1, keepdim=True)
        scaled = centred / (x.var(-1, unbiased=False, keepdim=True) + 1e-12).sqrt()
        return scaled * t[f"{name}.LayerNorm.weight"] + t[f"{name}.LayerNorm.bias"]

    def linear(x: torch.Tensor, name: str) -> torch.Tensor:
        return x @ t[f"{name}.weight"].T + t[f"{name}.bias"]

    x = t["embeddings.word_embeddings.weight"][ids]
    x = x + t["embeddings.position_embeddings.weight"][: len(ids)]
    x = norm(x + t["embeddings.token_type_embeddings.weight"][0], "embeddings")
    for number in range(2):
        layer = f"encoder.layer.{number}."
        q, k, v = (linear(x, f"{layer}attention.self.{p}") for p in ("query", "key", "value"))
        heads = [
            torch.softmax(q[:, h] @ k[:, h].T / math.sqrt(4), dim=-1) @ v[:, h]
            for h in (slice(0, 4), slice(4, 8))
        ]
        x = norm(
            x + linear(torch.cat(heads, 1), f"{layer}attention.output.dense"),
            f"{layer}attention.output",
        )
        wide = linear(x, f"{layer}intermediate.dense")
        wide = wide * 0.5 * (1 + torch.erf(wide / math.sqrt(2)))
        x = norm(x + linear(wide, f"{layer}output.dense"), f"{layer}output")
    return x


def test_forward_is_the_written_out_formula(checkpoint: Path) -> None:
    model = BertEncoder.from_safetensors(checkpoint)
    ids = [3, 1, 19, 7, 7]
    found = model(torch.tensor([ids]), torch.ones(1, 5))
    torch.testing.assert_close(found[0], naive(ids), atol=1e-5, rtol=1e-5)


def test_padding_changes_nothing(checkpoint: Path) -> None:
    model = BertEncoder.from_safetensors(checkpoint)
    ids = torch.tensor([[3, 1, 19, 5, 6], [4, 4, 2, 8, 9]])
    mask = torch.tensor([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]])
    torch.testing.assert_close(model(ids, mask)[0, :3], naive([3, 1, 19]), atol=1e-5, rtol=1e-5)


def test_it_can_be_fine_tuned(checkpoint: Path) -> None:
    model = BertEncoder.from_safetensors(checkpoint)
    assert not model.training
    model(torch.tensor([[3, 1]]), torch.ones(1, 2))[:, 0].sum().backward()
    untouched = {name for name, p in model.named_parameters() if p.grad is None}
    assert untouched == set()


def test_every_published_name_has_its_place() -> None:
    model = BertEncoder(BertConfig(20, 8, 2, 2, 12, 10))
    translated = {own_name(key) for key in published_tensors()} - {"pooler.dense.weight"}
    assert translated == set(model.state_dict())


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"hidden_size": 16}, UnreadableSource),
        ({"hidden_size": "eight"}, UnreadableSource),
        ({"num_hidden_layers": 3}, UnreadableSource),
        ({"num_attention_heads": 3}, UnreadableSource),
        ({"vocab_size": None}, UnreadableSource),
        ({"hidden_act": "relu"}, BadSetting),
        ({"position_embedding_type": "relative_key"}, BadSetting),
    ],
)
def test_a_checkpoint_that_does_not_fit_is_refused(
    checkpoint: Path, change: dict[str, object], error: type[Exception]
) -> None:
    (checkpoint / "config.json").write_text(json.dumps(CONFIG | change))
    with pytest.raises(error):
        BertEncoder.from_safetensors(checkpoint)


def test_missing_and_broken_files_are_named(checkpoint: Path) -> None:
    (checkpoint / "model.safetensors").write_bytes(b"\x00" * 20)
    with pytest.raises(UnreadableSource, match=r"model\.safetensors"):
        BertEncoder.from_safetensors(checkpoint)
    (checkpoint / "model.safetensors").unlink()
    with pytest.raises(MissingDependency, match=r"model\.safetensors"):
        BertEncoder.from_safetensors(checkpoint)
    (checkpoint / "config.json").write_text("[1]")
    with pytest.raises(UnreadableSource, match=r"config\.json"):
        BertEncoder.from_safetensors(checkpoint)
    (checkpoint / "config.json").unlink()
    with pytest.raises(MissingDependency, match=r"config\.json"):
        BertEncoder.from_safetensors(checkpoint)
