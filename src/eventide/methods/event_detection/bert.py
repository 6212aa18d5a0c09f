"""BERT fine-tuned on the labelled messages; its checkpoint is the user's own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl
import torch
from tokenizers import Tokenizer
from torch import Tensor, nn

from eventide.corpus.corpus import Corpus
from eventide.errors import MissingDependency
from eventide.features.encoders.bert_layers import BertConfig, BertEncoder
from eventide.features.encoders.minilm import SHA256, load_verified, model_folder
from eventide.features.encoders.text_encoder import text_column
from eventide.methods.event_detection.text_method import TextMethod
from eventide.networks.initialisation import Dropout, Noise, seeded_linear
from eventide.runners.text_runner import TextNetwork
from eventide.storage import expanded

PACKAGED = "minilm"
FILES = ("config.json", "tokenizer.json", "model.safetensors")


@dataclass(frozen=True)
class Pretrained:
    """A tokenizer, in the JSON of the tokenizers library, and the encoder it feeds."""

    tokenizer: str
    encoder: BertEncoder


def pretrained(name: str) -> Pretrained:
    """Load tokenizer and weights; every way it can fail says what to do next."""
    if name == PACKAGED:
        tokenizer, encoder = load_verified(model_folder(), SHA256)
        return Pretrained(tokenizer.to_str(), encoder)
    folder = _folder(name)
    missing = [file for file in FILES if not (folder / file).is_file()]
    if missing:
        raise MissingDependency(
            f"the checkpoint {name!r} has no {', '.join(missing)}",
            where=str(folder),
            next_step=f"save it again with safetensors and a fast tokenizer: {', '.join(FILES)}",
        )
    encoder = BertEncoder.from_safetensors(folder)
    return Pretrained((folder / "tokenizer.json").read_text(encoding="utf-8"), encoder)


def _folder(name: str) -> Path:
    if expanded(name).is_dir():
        return expanded(name)
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(name, allow_patterns=list(FILES)))
    # The hub's client fails in the ways of several network libraries: all mean the same here.
    except Exception as error:
        reason = str(error).strip().splitlines() or [type(error).__name__]
        raise MissingDependency(
            f"no weights can be had for the checkpoint {name!r}",
            where=reason[0],
            next_step="set text.checkpoint to a folder with config.json, tokenizer.json and "
            "model.safetensors, or to minilm (pip install 'eventide[minilm]')",
        ) from error


LONGEST = 128
PADDING = -1


class BertClassifier(TextNetwork):
    """The encoder, and a linear layer on the state of the first token."""

    at_once = 16

    def __init__(self, encoder: BertEncoder, classes: int, seed: int) -> None:
        super().__init__(Noise(seed))
        generator = torch.Generator().manual_seed(seed)
        width = encoder.config.hidden_size
        self.encoder = encoder
        self.dropout = Dropout(encoder.config.hidden_dropout_prob, self.noise)
        self.classifier = seeded_linear(width, classes, bias=True, generator=generator)

    def forward(self, inputs: Tensor) -> tuple[Tensor, Tensor]:
        """Return the first token's state for token ids [B, T], and logits."""
        longest = max(int((inputs != PADDING).sum(dim=1).max()), 1)
        ids, mask = inputs[:, :longest].long(), inputs[:, :longest] != PADDING
        first = self._encoded(ids.clamp(min=0), mask)[:, 0]
        return first, self.classifier(self.dropout(first))

    def order(self, inputs: Tensor) -> Tensor:
        """Run short messages with short ones: little is padding then."""
        return torch.argsort((inputs != PADDING).sum(dim=1), stable=True)

    def modules_of(self, part: Literal["encoder", "classifier"]) -> Iterator[nn.Module]:
        """Yield the encoder, or the linear layer."""
        yield self.encoder if part == "encoder" else self.classifier

    def _encoded(self, ids: Tensor, mask: Tensor) -> Tensor:
        # In training the encoder's dropout draws from torch's global stream: lend it a seed of
        # ours, and give the stream back as it was.
        devices = [ids.device] if ids.is_cuda else []
        with torch.random.fork_rng(devices=devices, enabled=self.encoder.training):
            if self.encoder.training:
                torch.manual_seed(self.noise.seed())
            states: Tensor = self.encoder(ids, mask)
        return states


class Bert(TextMethod[BertClassifier]):
    """Fine-tunes every weight of a pretrained encoder."""

    note: ClassVar[str] = "checkpoint {settings.text.checkpoint}"
    defaults: ClassVar[Mapping[str, Any]] = {
        "training.epochs": 10,
        "training.batch_size": 32,
        "training.learning_rate": 2e-5,
        "training.patience": 3,
    }
    tokenizer: Tokenizer
    config: BertConfig

    def make_network(self, corpus: Corpus, classes: int) -> BertClassifier:
        """Start from the checkpoint, or in a loaded model from nothing: its weights follow."""
        if hasattr(self, "config"):
            with torch.device("meta"):  # no random initialisation of what is loaded anyway
                empty = BertEncoder(self.config)
            return BertClassifier(empty.to_empty(device="cpu"), classes, self.seed)
        found = pretrained(self.settings.text.checkpoint)
        network = BertClassifier(found.encoder, classes, self.seed)
        self._recall(found.tokenizer, found.encoder.config)
        return network

    def read(self, messages: pl.DataFrame) -> Tensor:
        """Return the ids of each message's first 128 tokens [n, 128], padded with -1."""
        found = self.tokenizer.encode_batch_fast(text_column(messages).to_list())
        lengths = np.array([len(one.ids) for one in found])
        ids = np.full((len(found), LONGEST), PADDING, dtype=np.int32)
        ids[np.arange(LONGEST) < lengths[:, None]] = list(chain(*(one.ids for one in found)))
        return torch.from_numpy(ids)

    def reader_facts(self) -> dict[str, Any]:
        """Return the tokenizer and the sizes of the encoder."""
        return {"tokenizer": self.tokenizer.to_str(), "config": asdict(self.config)}

    def recall_reader(self, facts: Mapping[str, Any]) -> None:
        """Make both again."""
        self._recall(facts["tokenizer"], BertConfig(**facts["config"]))

    def _recall(self, tokenizer: str, config: BertConfig) -> None:
        self.tokenizer, self.config = Tokenizer.from_str(tokenizer), config
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(min(LONGEST, config.max_position_embeddings))
