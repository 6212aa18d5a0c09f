"""A BERT encoder in plain torch: ids and mask in, one vector per token out.

Small on purpose: post-norm layers, absolute positions, GELU; what MiniLM and the BERT family use.
``BertEncoder.from_safetensors(folder)`` reads ``config.json`` and ``model.safetensors`` as
published checkpoints have them. Use it frozen (the encoder ``minilm``) or fine-tune it.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Self

import torch
from torch import Tensor, nn

from eventide.errors import BadSetting, MissingDependency, UnreadableSource


@dataclass(frozen=True)
class BertConfig:
    """The sizes of a BERT encoder, under the names that ``config.json`` gives them."""

    vocab_size: int
    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    intermediate_size: int
    max_position_embeddings: int = 512
    type_vocab_size: int = 2
    layer_norm_eps: float = 1e-12
    hidden_dropout_prob: float = 0.1
    attention_probs_dropout_prob: float = 0.1

    def check(self) -> None:
        """Refuse sizes that no model can have."""
        for field in fields(self):
            value = getattr(self, field.name)
            whole = field.type == "int"
            if not isinstance(value, int if whole else int | float) or value < whole:
                raise ValueError(f"{field.name} cannot be {value!r}")
        if self.hidden_size % self.num_attention_heads:
            raise ValueError("hidden_size is not a multiple of num_attention_heads")

    @classmethod
    def from_json(cls, path: Path) -> Self:
        """Read a ``config.json``; a model that is not a plain BERT is refused."""
        try:
            given = json.loads(path.read_text(encoding="utf-8"))
            sizes = {field.name: given[field.name] for field in fields(cls) if field.name in given}
            config = cls(**sizes)
            config.check()
        except OSError as error:
            raise MissingDependency(
                "a BERT checkpoint needs its config.json", where=str(path)
            ) from error
        except (ValueError, TypeError) as error:
            raise UnreadableSource(
                f"this is not the configuration of a BERT model: {error}", where=str(path)
            ) from error
        for key, supported in (("hidden_act", "gelu"), ("position_embedding_type", "absolute")):
            if given.get(key, supported) != supported:
                raise BadSetting(
                    f"only {key}={supported!r} is supported, found {given[key]!r}", where=str(path)
                )
        return config


class BertEncoder(nn.Module):
    """Token ids ``[B, T]`` and mask ``[B, T]`` (1 = token) to hidden states ``[B, T, hidden]``."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.config = config
        width = config.hidden_size
        self.words = nn.Embedding(config.vocab_size, width)
        self.positions = nn.Embedding(config.max_position_embeddings, width)
        self.types = nn.Embedding(config.type_vocab_size, width)
        self.norm = nn.LayerNorm(width, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.layers = nn.ModuleList(Layer(config) for _ in range(config.num_hidden_layers))

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Encode; what stands behind the mask does not change what stands before it."""
        index = torch.arange(ids.shape[1], device=ids.device)
        hidden: Tensor = self.words(ids) + self.positions(index) + self.types.weight[0]
        hidden = self.dropout(self.norm(hidden))
        visible = mask.bool()[:, None, None, :]
        for layer in self.layers:
            hidden = layer(hidden, visible)
        return hidden

    @classmethod
    def from_safetensors(cls, folder: Path, weights: bytes | None = None) -> Self:
        """Load a published checkpoint; ``weights`` is the content of its file if already read."""
        from safetensors import SafetensorError
        from safetensors.torch import load

        model = cls(BertConfig.from_json(folder / "config.json"))
        path = folder / "model.safetensors"
        try:
            tensors = load(path.read_bytes() if weights is None else weights)
            named = {own_name(key): value.float() for key, value in tensors.items()}
            model.load_state_dict({key: named[key] for key in model.state_dict()})
        except OSError as error:
            raise MissingDependency(
                "a BERT checkpoint needs its model.safetensors", where=str(path)
            ) from error
        except (SafetensorError, KeyError, RuntimeError) as error:
            raise UnreadableSource(
                f"these weights are not those of the BERT in config.json: {error}", where=str(path)
            ) from error
        return model.eval()


class Layer(nn.Module):
    """Self-attention and a feed-forward part, each added to its input and normalised."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        width = config.hidden_size
        self.heads = config.num_attention_heads
        self.attention_dropout = config.attention_probs_dropout_prob
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.output = nn.Linear(width, width)
        self.output_norm = nn.LayerNorm(width, eps=config.layer_norm_eps)
        self.widen = nn.Linear(width, config.intermediate_size)
        self.narrow = nn.Linear(config.intermediate_size, width)
        self.narrow_norm = nn.LayerNorm(width, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, hidden: Tensor, visible: Tensor) -> Tensor:
        """``hidden`` is ``[B, T, width]``, ``visible`` is boolean ``[B, 1, 1, T]``."""
        query, key, value = (
            part(hidden).unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for part in (self.query, self.key, self.value)
        )
        attended = nn.functional.scaled_dot_product_attention(
            query,
            key,
            value,
            attn_mask=visible,
            dropout_p=self.attention_dropout if self.training else 0.0,
        )
        mixed = self.output(attended.transpose(1, 2).flatten(2))
        hidden = self.output_norm(hidden + self.dropout(mixed))
        widened = nn.functional.gelu(self.widen(hidden))
        result: Tensor = self.narrow_norm(hidden + self.dropout(self.narrow(widened)))
        return result


_PUBLISHED = (
    (r"^bert\.", ""),
    (r"^embeddings\.LayerNorm\.", "norm."),
    (r"^embeddings\.(word|position)_embeddings\.", r"\1s."),
    (r"^embeddings\.token_type_embeddings\.", "types."),
    (r"^encoder\.layer\.", "layers."),
    (r"\.attention\.self\.", "."),
    (r"\.attention\.output\.dense\.", ".output."),
    (r"\.attention\.output\.LayerNorm\.", ".output_norm."),
    (r"\.intermediate\.dense\.", ".widen."),
    (r"(layers\.\d+)\.output\.dense\.", r"\1.narrow."),
    (r"(layers\.\d+)\.output\.LayerNorm\.", r"\1.narrow_norm."),
    (r"\.gamma$", ".weight"),
    (r"\.beta$", ".bias"),
)


def own_name(published: str) -> str:
    """Translate the name a published checkpoint gives a tensor into ours.

    >>> own_name("bert.encoder.layer.3.output.dense.weight")
    'layers.3.narrow.weight'
    """
    for pattern, ours in _PUBLISHED:
        published = re.sub(pattern, ours, published)
    return published
