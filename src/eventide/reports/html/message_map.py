"""A map of messages: a plane on which messages lie near that the model takes for alike."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eventide.arrays import unit_rows
from eventide.reports.html.subject import ReportSubject

MOST = 1_200
"""Messages on a map: more would be a blot, and a heavy page."""
LEAST = 5
"""Messages of each event that are drawn first, so that no small event is missing."""
WIDTH = 24
ITERATIONS = 400
SEED = 0

Ints = NDArray[np.int64]


def map_rows(event: Ints, candidates: Ints, most: int = MOST) -> Ints:
    """Draw messages for a map: a few of every event, the rest as they come.

    >>> map_rows(np.array([0] * 9 + [1]), np.arange(10), most=6).tolist()[-1]
    9
    """
    if len(candidates) <= most:
        return candidates
    generator = np.random.default_rng(SEED)
    drawn = generator.permutation(candidates)
    own = event[drawn]
    order = np.argsort(own, kind="stable")
    starts = np.flatnonzero(np.append(True, np.diff(own[order]) != 0))
    rank = np.empty(len(own), np.int64)
    rank[order] = np.arange(len(own)) - np.repeat(starts, np.diff(np.append(starts, len(own))))
    first = np.argsort(rank >= LEAST, kind="stable")
    return np.sort(drawn[first[:most]])


def plane(subject: ReportSubject, rows: Ints) -> NDArray[np.float64]:
    """Lay messages out [rows, 2] by t-SNE of what the network makes of them; the same every time.

    Three messages or fewer have no map: they lie on a line.
    """
    vectors = unit_rows(subject.vectors(rows))
    if len(rows) <= 3:
        return np.stack([np.arange(len(rows), dtype=float), np.zeros(len(rows))], axis=1)
    narrow = _principal(vectors, min(WIDTH, len(rows) - 1, vectors.shape[1]))
    if not narrow.any():
        return np.zeros((len(rows), 2))
    from sklearn.manifold import TSNE

    start = narrow[:, :2] if narrow.shape[1] > 1 else np.repeat(narrow, 2, axis=1)
    start = 1e-4 * start / max(float(start.std()), 1e-12)
    layout = TSNE(
        perplexity=min(30.0, (len(rows) - 1) / 3),
        init=start.astype(np.float32),
        max_iter=ITERATIONS,
        random_state=SEED,
    ).fit_transform(narrow.astype(np.float32))
    spread: NDArray[np.float64] = layout / max(float(np.abs(layout).max()), 1e-12)
    return spread


def _principal(vectors: NDArray[np.float64], width: int) -> NDArray[np.float64]:
    """Turn rows onto their first principal axes; a sign is fixed, so that a map is not mirrored."""
    centred = vectors - vectors.mean(axis=0)
    if len(vectors) < vectors.shape[1]:  # the smaller of the two products is quicker to take apart
        sizes, sides = np.linalg.eigh(centred @ centred.T)
        turned = (sides * np.sqrt(np.maximum(sizes, 0)))[:, ::-1][:, :width]
    else:
        _, axes = np.linalg.eigh(centred.T @ centred)
        turned = centred @ axes[:, ::-1][:, :width]
    signs = np.sign(turned[np.abs(turned).argmax(axis=0), np.arange(turned.shape[1])])
    fixed: NDArray[np.float64] = turned * np.where(signs == 0, 1, signs)
    return fixed
