"""How early flipped labels come in the ranking of `eventide labels`.

    python benchmarks/flipped_labels.py sample crisislex-t7 --seeds 5

5 % of the labels are replaced by other events; prints the share of them in the first 10 % of the
ranking, and the share of suspects that were flipped.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import polars as pl

from eventide.arrays import unit_rows
from eventide.corpus.messages import read_messages
from eventide.data.sample import sample
from eventide.features.encoders import encoder
from eventide.model.label_check import _ranked, cross_fitted_probability

FLIPPED, FIRST, FEWEST = 0.05, 0.10, 5


def main() -> None:
    """Print a line per dataset and seed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="+")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--most", type=int, help="at most so many messages of each event")
    parser.add_argument("--encoder", default="wordllama+tfidf-svd")
    given = parser.parse_args()
    for name in given.datasets:
        source = sample() if name == "sample" else name
        frame = read_messages(source, entities="none").messages.drop_nulls("event")
        frame = frame.filter(pl.len().over("event") >= FEWEST)
        if given.most is not None:
            frame = frame.filter(pl.int_range(pl.len()).shuffle(seed=0).over("event") < given.most)
        vectors = unit_rows(encoder(given.encoder).fit(frame).encode(frame))
        names = np.array(frame["event"].unique().sort().to_list())
        truth = np.searchsorted(names, frame["event"].to_numpy().astype(str))
        shares = []
        for seed in range(given.seeds):
            started, random = time.perf_counter(), np.random.default_rng([seed, 5])
            flipped = random.choice(len(truth), round(FLIPPED * len(truth)), replace=False)
            labels = truth.copy()
            labels[flipped] += random.integers(1, len(names), len(flipped))
            labels %= len(names)
            probability = cross_fitted_probability(vectors, labels, frame["text"], seed)
            told = frame.with_columns(event=pl.Series(names[labels]))
            ranking = _ranked(told, labels, probability, names)
            wrong = set(frame["id"][flipped.tolist()].to_list())
            first = ranking["id"].head(round(FIRST * len(ranking))).to_list()
            shares.append(len(wrong.intersection(first)) / len(wrong))
            suspects = ranking.filter("suspect")["id"].to_list()
            precise = len(wrong.intersection(suspects)) / max(len(suspects), 1)
            print(f"{name} seed {seed}: {shares[-1]:.3f} of the flipped in the first 10 %,", end="")
            print(f" {precise:.3f} of {len(suspects)} suspects were flipped", end="")
            print(f" ({time.perf_counter() - started:.0f} s)", flush=True)
        print(f"{name}: {np.mean(shares):.3f} on average, {np.min(shares):.3f} at worst")


if __name__ == "__main__":
    main()
