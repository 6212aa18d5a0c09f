"""A sentence encoder taught by pairs which messages belong together, and logistic regression.

Tunstall et al., "Efficient few-shot learning without prompts" (SetFit, 2022): fine-tune a sentence
transformer so that (cosine - 1)^2 is small for two messages of one event and cosine^2 for two of
different events; then fit logistic regression on its embeddings.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from itertools import chain
from typing import Any, ClassVar

import numpy as np
import polars as pl
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer
from torch import Tensor, nn

from eventide.corpus.corpus import Corpus, Ints
from eventide.corpus.training_set import TrainingSet
from eventide.features.encoders.bert_layers import BertConfig, BertEncoder
from eventide.features.encoders.text_encoder import text_column
from eventide.methods.baselines.logistic_regression import Matrix, ProbedMethod
from eventide.methods.event_detection.bert import PADDING, pretrained
from eventide.methods.single_step import messages_of
from eventide.runners.runner import choose_device
from eventide.runtime.own_process import warn_if_spinning
from eventide.tensors import unit_rows

LONGEST = 64
MOST_STEPS = 60
"""Steps of fine-tuning, however many pairs there are: under two minutes with MiniLM on one core."""
WARM_UP = 0.1
"""The share of the steps in which the learning rate rises; then it falls to nothing."""
AT_ONCE = 32
"""Messages that are encoded in one go."""


def drawn_pairs(labels: Ints, random: np.random.Generator) -> tuple[Ints, Ints, Ints]:
    """Return every message once, in random order, with another of its class and one of no such.

    A message that is alone in its class is paired with itself.

    >>> first, same, other = drawn_pairs(np.array([0, 1, 0, 1]), np.random.default_rng(0))
    >>> bool((same == (first + 2) % 4).all()), bool(((other - first) % 2 == 1).all())
    (True, True)
    """
    order = np.argsort(labels, kind="stable")
    sizes = np.bincount(labels)
    starts = (np.cumsum(sizes) - sizes)[labels[order]]
    size, place = sizes[labels[order]], np.arange(len(labels))
    ahead = 1 + random.integers(0, np.maximum(size - 1, 1))
    same = starts + (place - starts + ahead) % size
    other = random.integers(0, len(labels) - size)
    other = np.where(other < starts, other, other + size)
    shuffled = random.permutation(len(labels))
    return order[shuffled], order[same[shuffled]], order[other[shuffled]]


def pair_error(first: Tensor, same: Tensor, other: Tensor) -> Tensor:
    """Squared error of the cosines with 1 and 0, the mean of both; one value per message [B].

    >>> one, two = torch.tensor([[2.0, 0.0]]), torch.tensor([[0.0, 3.0]])
    >>> pair_error(one, two, one).item()
    1.0
    """
    first, same, other = unit_rows(first), unit_rows(same), unit_rows(other)
    near, far = (first * same).sum(dim=1), (first * other).sum(dim=1)
    return ((near - 1).square() + far.square()) / 2


def rate_at(step: int, steps: int) -> float:
    """Return the share of the learning rate at a step, counted from 0.

    >>> [round(rate_at(step, 20), 2) for step in (0, 1, 2, 19)]
    [0.5, 1.0, 1.0, 0.06]
    """
    rising = max(round(WARM_UP * steps), 1)
    if step < rising:
        return (step + 1) / rising
    return (steps - step) / (steps - rising)


class FewShotMiniLm(ProbedMethod):
    """SetFit's two steps with the checkpoint of ``text.checkpoint``.

    [V] 16 pairs a step, half of one event, learning rate 2e-5 with a tenth of the steps as warm-up,
    20 rounds of pairs (``training.epochs``), squared error of the cosine, logistic regression.
    [C] At most 60 steps and 64 tokens, so that it takes two minutes on one core; a message is
    encoded once for its two pairs; Adam with decoupled weight decay 0.01 and gradients no longer
    than 1; logistic regression in which all classes weigh the same, as in ``lr-encoder``.
    """

    defaults: ClassVar[Mapping[str, Any]] = {
        "training.epochs": 20,
        "training.batch_size": 16,
        "training.learning_rate": 2e-5,
    }
    note: ClassVar[str] = (
        f"checkpoint {{settings.text.checkpoint}}, at most {MOST_STEPS} steps of pairs"
    )
    tokenizer: Tokenizer
    encoder: BertEncoder

    def fit_vectors(self, training_set: TrainingSet) -> Matrix:
        """Fine-tune on pairs of training messages, and return the vectors of the memory."""
        warn_if_spinning()
        found = pretrained(self.settings.text.checkpoint)
        self._set_up(found.tokenizer, found.encoder)
        ids = self.read(messages_of(training_set.corpus))
        rows = training_set.training_rows
        self._fine_tune(ids[torch.from_numpy(rows)], training_set.labels[rows])
        return self._encoded(ids)

    def vectors(self, corpus: Corpus) -> Matrix:
        """Encode new messages, each by itself."""
        return self._encoded(self.read(messages_of(corpus)))

    def read(self, messages: pl.DataFrame) -> Tensor:
        """Return the ids of each message's first 64 tokens [n, 64], padded with -1."""
        found = self.tokenizer.encode_batch_fast(text_column(messages).to_list())
        lengths = np.array([len(one.ids) for one in found])
        ids = np.full((len(found), LONGEST), PADDING, dtype=np.int64)
        ids[np.arange(LONGEST) < lengths[:, None]] = list(chain(*(one.ids for one in found)))
        return torch.from_numpy(ids)

    def learned(self) -> dict[str, NDArray[Any]]:
        """Return the probe, the fine-tuned weights, and how text is read."""
        facts = {"tokenizer": self.tokenizer.to_str(), "config": asdict(self.encoder.config)}
        weights = self.encoder.state_dict().items()
        return {
            **super().learned(),
            "reader": np.frombuffer(json.dumps(facts).encode(), dtype=np.uint8).copy(),
            **{f"encoder.{name}": value.cpu().numpy() for name, value in weights},
        }

    def recall(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take them back."""
        super().recall(arrays)
        facts = json.loads(arrays["reader"].tobytes())
        with torch.device("meta"):  # no random initialisation of what is loaded anyway
            empty = BertEncoder(BertConfig(**facts["config"]))
        encoder = empty.to_empty(device="cpu")
        encoder.load_state_dict(
            {name: torch.from_numpy(arrays[f"encoder.{name}"]) for name in encoder.state_dict()}
        )
        self._set_up(facts["tokenizer"], encoder)

    def _set_up(self, tokenizer: str, encoder: BertEncoder) -> None:
        self.tokenizer = Tokenizer.from_str(tokenizer)
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(min(LONGEST, encoder.config.max_position_embeddings))
        self.encoder = encoder.to(choose_device(self.settings.training.device)).eval()

    def _fine_tune(self, ids: Tensor, labels: Ints) -> None:
        settings = self.settings.training
        batches = list(self._batches(labels))
        rate, weights = settings.learning_rate, list(self.encoder.parameters())
        optimiser = torch.optim.AdamW(weights, lr=rate, weight_decay=0.01)
        device = ids.new_empty(0).to(weights[0].device).device
        # Dropout draws from torch's global stream: lend it a seed, and give it back as it was.
        with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
            torch.manual_seed(self.seed)
            self.encoder.train()
            for step, batch in enumerate(batches):
                optimiser.param_groups[0]["lr"] = rate * rate_at(step, len(batches))
                pooled = self._pooled(ids[torch.from_numpy(np.concatenate(batch))])
                # three parts of one length: messages, their like, their unlike
                loss = pair_error(*torch.chunk(pooled, 3)).mean()
                optimiser.zero_grad(set_to_none=True)
                loss.backward()  # type: ignore[no-untyped-call]
                nn.utils.clip_grad_norm_(weights, 1.0)
                optimiser.step()
        self.encoder.requires_grad_(False).eval()

    def _batches(self, labels: Ints) -> Iterator[tuple[Ints, Ints, Ints]]:
        """Yield messages with one of their class and one of another, until there are enough."""
        settings, steps = self.settings.training, 0
        size = max(settings.batch_size // 2, 1)  # a message has two pairs
        for epoch in range(1, settings.epochs + 1):
            drawn = drawn_pairs(labels, np.random.default_rng([self.seed, epoch]))
            for start in range(0, len(labels), size):
                if steps == MOST_STEPS:
                    return
                first, same, other = (each[start : start + size] for each in drawn)
                yield first, same, other
                steps += 1

    def _pooled(self, ids: Tensor) -> Tensor:
        """Return the mean of the last layer over the tokens of each message [n, width]."""
        longest = max(int((ids != PADDING).sum(dim=1).max()), 1)
        near = ids[:, :longest].to(next(self.encoder.parameters()).device)
        mask = near != PADDING
        hidden: Tensor = self.encoder(near.clamp(min=0), mask) * mask.unsqueeze(2)
        return hidden.sum(dim=1) / mask.sum(dim=1, keepdim=True).clamp(min=1)

    @torch.no_grad()
    def _encoded(self, ids: Tensor) -> NDArray[np.float32]:
        """Return unit vectors [n, width]; messages of like length run together."""
        order = torch.argsort((ids != PADDING).sum(dim=1), stable=True)
        parts = [self._pooled(ids[rows]).cpu() for rows in torch.split(order, AT_ONCE)]
        vectors: NDArray[np.float32] = unit_rows(torch.cat(parts))[torch.argsort(order)].numpy()
        return vectors
