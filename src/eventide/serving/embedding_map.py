"""Messages on a plane: the memory's embeddings in two dimensions, and the stream among them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from eventide.corpus.corpus import Corpus
from eventide.methods.trained import MultiViewMethod
from eventide.serving.live_model import LoadedModel

MEMORY, AT_ONCE = 600, 256
Floats = NDArray[np.float64]


class EmbeddingMap:
    """The plane through the memory's embeddings in which events lie furthest apart.

    It is spanned by the two main directions of the events' means, filled up with those of single
    messages where there are fewer than three events.
    """

    def __init__(self, loaded: LoadedModel) -> None:
        self._loaded = loaded
        model = loaded.classifier
        labelled = np.flatnonzero(model.labels_ >= 0)
        rows = labelled[np.linspace(0, len(labelled) - 1, min(MEMORY, len(labelled))).astype(int)]
        vectors = self._of_rows(rows)
        self.centre = vectors.mean(axis=0)
        labels = model.labels_[rows]
        classes = np.unique(labels)
        means = np.stack([vectors[labels == each].mean(axis=0) for each in classes])
        _, _, between = np.linalg.svd(means - means.mean(axis=0), full_matrices=False)
        _, _, within = np.linalg.svd(vectors - self.centre, full_matrices=False)
        enough = between[: min(2, len(classes) - 1)]
        self.axes = np.concatenate([enough, within])[:2]
        placed = self.place(vectors)
        self.scale = float(np.abs(placed).max()) or 1.0
        names = model.class_names
        self.memory = [
            {"x": x, "y": y, "event": str(names[label])}
            for (x, y), label in zip((placed / self.scale).tolist(), labels, strict=True)
        ]
        self.prototypes = [
            {"x": x, "y": y, "event": str(names[each])}
            for (x, y), each in zip(
                (self.place(means) / self.scale).tolist(), classes.tolist(), strict=True
            )
        ]

    def place(self, vectors: Floats) -> Floats:
        """Project vectors [n, width] onto the plane [n, 2]."""
        placed: Floats = (vectors - self.centre) @ self.axes.T
        return placed

    def points(self, rows: Sequence[Mapping[str, Any]]) -> list[tuple[float, float]]:
        """Place stored messages."""
        model, found = self._loaded.classifier, []
        for timed in (True, False):
            own = [at for at, row in enumerate(rows) if (row["created_at"] is None) != timed]
            for start in range(0, len(own), AT_ONCE):
                part = own[start : start + AT_ONCE]
                frame = self._loaded.frame([rows[at] for at in part])
                corpus = model.inference.prepare(frame, model.featuriser_.keys(frame))
                placed = (self.place(self._of_corpus(corpus)) / self.scale).tolist()
                found += list(zip(part, placed, strict=True))
        return [(x, y) for _, (x, y) in sorted(found)]

    def _of_rows(self, rows: NDArray[np.int64]) -> Floats:
        method = self._loaded.classifier.method_
        if isinstance(method, MultiViewMethod):
            parts = [
                _joined(method.runner.evaluate(rows[start : start + AT_ONCE]))
                for start in range(0, len(rows), AT_ONCE)
            ]
            return np.concatenate(parts)
        return self._loaded.classifier.memory_.features[rows].astype(np.float64)

    def _of_corpus(self, corpus: Corpus) -> Floats:
        method = self._loaded.classifier.method_
        if isinstance(method, MultiViewMethod):
            return _joined(method.runner.evaluate_new(method.runner.look_up(corpus)))
        return corpus.features.astype(np.float64)


def _joined(outputs: Mapping[str, Any]) -> Floats:
    """Put the embeddings of the views side by side, each of length one."""
    with torch.no_grad():
        parts = [
            torch.nn.functional.normalize(each.embeddings.double()) for each in outputs.values()
        ]
        joined: Floats = torch.cat(parts, dim=1).cpu().numpy()
    return joined
