"""``bert``: a pretrained BERT, fine-tuned as a whole on the training messages.

Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers" (NAACL 2019). [P] the first
token's last state goes through dropout and a linear layer; learning rate 2e-5, batches of 32, 128
tokens. [C] Adam without warm-up or decay, at most 10 epochs, fewer when 3 in a row bring nothing;
and which checkpoint: ``text.checkpoint``, by default MiniLM, whose weights come as a Python
package. The saved model holds weights and tokenizer, so it needs no checkpoint to be loaded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from itertools import chain
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl
import torch
from tokenizers import Tokenizer
from torch import Tensor, nn

from eventide.features.encoders.base import text_column
from eventide.features.encoders.bert import BertConfig, BertEncoder
from eventide.methods.event_detection.checkpoint import pretrained
from eventide.methods.event_detection.text_method import TextMethod
from eventide.methods.event_detection.text_stage import TextNetwork
from eventide.networks.seeding import Dropout, Noise, seeded_linear
from eventide.training.corpus import Corpus

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
            with torch.device("meta"):  # no random first weights for what is loaded anyway
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
