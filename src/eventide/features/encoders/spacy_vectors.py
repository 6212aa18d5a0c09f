"""``spacy:<pipeline>``: the document vectors of an installed spaCy pipeline."""

from __future__ import annotations

from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np

from eventide.errors import BadSetting, MissingDependency
from eventide.features.encoders.text_encoder import State, TextEncoder, Vectors

_one_at_a_time = Lock()
"""For pipelines: spaCy does not promise that threads may share one."""


class SpacyEncoder(TextEncoder):
    """The mean of a message's word vectors, or of the pipeline's token tensor if it has none."""

    batch_size = 1024

    def __init__(self, argument: str | None = None) -> None:
        if argument is None:
            raise BadSetting(
                "the encoder 'spacy' needs the name of a pipeline",
                next_step="write spacy:PIPELINE, for example spacy:en_core_web_md",
            )
        super().__init__(f"spacy:{argument}")
        self._pipeline = argument

    @cached_property
    def width(self) -> int:
        """Found by encoding one word: vectors and tensors differ in width."""
        width = len(self._documents(["word"])[0].vector)
        if width == 0:
            raise BadSetting(
                f"the spaCy pipeline {self._pipeline!r} gives no vectors",
                next_step="choose one with word vectors (its name ends in md or lg)",
            )
        return width

    def vectors(self, texts: list[str]) -> Vectors:
        """Return every document's vector."""
        found = [document.vector for document in self._documents(texts)]
        return np.asarray(np.stack(found), dtype=np.float32)

    def state(self) -> State:
        """The pipeline's name and version, so that another one is noticed."""
        meta = self._loaded.meta
        version = f"{meta.get('lang')}_{meta.get('name')}-{meta.get('version')}"
        return State({}, {"width": self.width, "pipeline": version})

    def _documents(self, texts: list[str]) -> list[Any]:
        with _one_at_a_time:
            if self._loaded.vocab.vectors_length:  # static vectors: tokens suffice
                return [self._loaded.make_doc(text) for text in texts]
            return list(self._loaded.pipe(texts, batch_size=self.batch_size))

    @cached_property
    def _loaded(self) -> Any:
        try:
            import spacy
        except ImportError as error:
            raise MissingDependency(
                f"the encoder {self.name!r} needs the package spacy",
                next_step='pip install "eventide[spacy]"',
            ) from error
        try:
            return spacy.load(self._pipeline, exclude=["ner", "parser", "lemmatizer"])
        except (OSError, ValueError) as error:
            raise MissingDependency(
                f"the spaCy pipeline {self._pipeline!r} is not installed",
                where=str(error).splitlines()[0] if str(error) else type(error).__name__,
                next_step=f"python -m spacy download {self._pipeline}",
            ) from error
