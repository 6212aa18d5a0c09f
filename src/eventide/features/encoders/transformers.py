"""``transformers:<name or path>``: any checkpoint that Hugging Face transformers can load."""

from __future__ import annotations

from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np

from eventide.arrays import unit_rows
from eventide.errors import BadSetting, MissingDependency
from eventide.features.encoders.text_encoder import State, TextEncoder, Vectors, fingerprint
from eventide.storage import expanded

LONGEST = 256
_one_at_a_time = Lock()
"""For tokenizers: they change themselves to pad, and fail in two threads at once."""


class TransformersEncoder(TextEncoder):
    """The mean of the last hidden layer over a message's tokens, of unit length."""

    batch_size = 64

    def __init__(self, argument: str | None = None) -> None:
        if argument is None:
            raise BadSetting(
                "the encoder 'transformers' needs the name or path of a checkpoint",
                next_step="write transformers:NAME or transformers:PATH",
            )
        super().__init__(f"transformers:{argument}")
        self._checkpoint = str(expanded(argument)) if argument.startswith("~") else argument

    @property
    def width(self) -> int:
        """The hidden size of the checkpoint."""
        return int(self._loaded[1].config.hidden_size)

    def vectors(self, texts: list[str]) -> Vectors:
        """Tokenise with padding, run the model, average over what is not padding."""
        import torch

        tokenizer, model = self._loaded
        with _one_at_a_time:
            batch = tokenizer(
                texts, padding=True, truncation=True, max_length=LONGEST, return_tensors="pt"
            )
        with torch.inference_mode():
            hidden = model(**batch).last_hidden_state.float()
            mask = batch["attention_mask"][:, :, None].float()
            means = (hidden * mask).sum(dim=1) / mask.sum(dim=1).clamp(min=1)
        return unit_rows(means.numpy())

    def state(self) -> State:
        """A fingerprint of the weights, so that a changed checkpoint is noticed."""
        return State({}, {"width": self.width, "sha256": self._sha256})

    @cached_property
    def _sha256(self) -> str:
        weights = sorted(self._loaded[1].state_dict().items())
        return fingerprint(np.asarray(tensor.float()) for _, tensor in weights)

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        try:
            from transformers import AutoModel, AutoTokenizer
        except ImportError as error:
            raise MissingDependency(
                f"the encoder {self.name!r} needs the package transformers",
                next_step='pip install "eventide[transformers]"',
            ) from error
        try:
            # safetensors only: a checkpoint in pickle form could run code
            model = AutoModel.from_pretrained(self._checkpoint, use_safetensors=True)
            tokenizer = AutoTokenizer.from_pretrained(self._checkpoint)
        except (OSError, ValueError) as error:
            raise MissingDependency(
                f"transformers cannot load the checkpoint {self._checkpoint!r}",
                where=str(error).splitlines()[0] if str(error) else type(error).__name__,
                next_step="give the name of a published checkpoint or the path of a folder with "
                "config.json, tokenizer.json and model.safetensors",
            ) from error
        return tokenizer, model.eval()
