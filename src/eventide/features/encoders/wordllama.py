"""``wordllama``: the mean of static token vectors that come with the package; works offline."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from eventide.errors import MissingDependency
from eventide.features.encoders.pooling import count_matrix, row_means
from eventide.features.encoders.text_encoder import (
    State,
    TextEncoder,
    Vectors,
    fingerprint,
    no_argument,
)
from eventide.runtime.lazy import Lazy

TOKENIZER = "l2_supercat_tokenizer_config.json"


class WordLlamaEncoder(TextEncoder):
    """256 values per message: the mean of its tokens' vectors (LLaMA 2 tokens, 32,000 vectors)."""

    many_threads = True

    def __init__(self, argument: str | None = None) -> None:
        no_argument("wordllama", argument)
        super().__init__("wordllama")

    @property
    def width(self) -> int:
        """The width of the bundled vectors."""
        return int(_model().embedding.shape[1])

    def vectors(self, texts: list[str]) -> Vectors:
        """Mean of token vectors, counted in a sparse matrix: no padding, no batch effects."""
        model = _model()
        tokens = [
            found.ids
            for found in model.tokenizer.encode_batch_fast(texts, add_special_tokens=False)
        ]
        rows = np.repeat(np.arange(len(texts)), [len(ids) for ids in tokens])
        columns = np.fromiter(chain.from_iterable(tokens), dtype=np.int64, count=len(rows))
        size = model.embedding.shape[0]
        counts = count_matrix(rows, np.minimum(columns, size - 1), (len(texts), size))
        return row_means(counts, model.embedding)

    def state(self) -> State:
        """The width and a fingerprint of the bundled vectors."""
        return State({}, {"width": self.width, "sha256": _fingerprint()})


class BundledVectors(NamedTuple):
    """The vectors [tokens, width] and their tokenizer."""

    embedding: Vectors
    tokenizer: Any


def _load() -> BundledVectors:
    """Read the files that come with the package.

    The package itself is not imported: it loads what downloads need, and sets up logging.
    """
    found = find_spec("wordllama")
    try:
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer

        folder = Path(found.origin).parent if found and found.origin else Path("wordllama")
        vectors = load_file(folder / "weights" / "l2_supercat_256.safetensors")["embedding.weight"]
        tokenizer = Tokenizer.from_str((folder / "tokenizers" / TOKENIZER).read_text("utf-8"))
    except (ImportError, OSError, KeyError) as error:
        raise MissingDependency(
            "the encoder 'wordllama' cannot load its bundled vectors",
            where=str(error),
            next_step="install it again: pip install --force-reinstall wordllama",
        ) from error
    tokenizer.no_padding()
    tokenizer.no_truncation()
    # Its cache would keep up to 10,000 callers' texts, whole, and only slows down others.
    resize = getattr(tokenizer.model, "_resize_cache", None)
    if resize is not None:
        resize(0)
    return BundledVectors(np.ascontiguousarray(vectors, dtype=np.float32), tokenizer)


_model = Lazy(_load).get
"""The bundled vectors and their tokenizer, loaded once."""


@cache
def _fingerprint() -> str:
    return fingerprint([_model().embedding])
