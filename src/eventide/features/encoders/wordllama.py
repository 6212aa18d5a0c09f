"""``wordllama``: the mean of static token vectors that come with the package; works offline."""

from __future__ import annotations

import logging
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

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
from eventide.runtime.quiet import quiet


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


def _load() -> Any:
    """Load the bundled vectors, without the package's warnings and root logger settings."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    try:
        with quiet():
            import wordllama

            folder = Path(wordllama.__file__).parent
            model = wordllama.WordLlama.load(cache_dir=folder, disable_download=True)
    except (ImportError, FileNotFoundError) as error:
        raise MissingDependency(
            "the encoder 'wordllama' cannot load its bundled vectors",
            where=str(error),
            next_step="install it again: pip install --force-reinstall wordllama",
        ) from error
    finally:
        # importing wordllama calls logging.basicConfig, which is the application's to call
        root.handlers[:] = handlers
        root.setLevel(level)
    model.tokenizer.no_padding()
    # Its cache would keep up to 10,000 callers' texts, whole, and only slows down others.
    resize = getattr(model.tokenizer.model, "_resize_cache", None)
    if resize is not None:
        resize(0)
    return model


_model = Lazy(_load).get
"""The bundled vectors and their tokenizer, loaded once."""


@cache
def _fingerprint() -> str:
    return fingerprint([_model().embedding])
