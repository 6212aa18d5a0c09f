"""Which encoder should be the default? Validation accuracy of simple classifiers on its vectors.

    python benchmarks/encoders.py crisislex-t7 crisislex-lt28

Locked messages (`eventide data lock`) are left out. For each data set and split seed 100 to 104 (15
validation messages of every event, copies kept together) an encoder is fitted on the others. Two
classifiers that cannot hide a weak encoder then read its vectors: class-balanced logistic
regression and the nearest class centroid (cosine). Every event has the same number of validation
messages, so that accuracy counts small and large events alike.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from typing import Any, Self

import numpy as np
import polars as pl
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from eventide.arrays import unit_rows
from eventide.data import read
from eventide.data.lock import without_locked
from eventide.data.near_duplicates import near_duplicate_groups
from eventide.data.split_draws import per_class_split
from eventide.errors import MissingDependency
from eventide.features.encoders import encoder, split_specification
from eventide.features.encoders.tfidf_svd import TfidfSvd

SEEDS = range(100, 105)
ENCODERS = (
    "wordllama",
    "tfidf-svd",
    "word2vec",
    "minilm",
    "wordllama+tfidf-svd",
    "minilm+tfidf-svd",
    "wordllama+minilm+tfidf-svd",
)


class ScikitLearn:
    """TF-IDF and SVD by scikit-learn, for comparison with ours."""

    name = "scikit-learn"
    width = 256

    def __init__(self, *steps: Any) -> None:
        self._steps = make_pipeline(*steps, TruncatedSVD(self.width, random_state=0))

    def fit(self, messages: pl.DataFrame) -> Self:
        """Learn vocabulary and projection."""
        self._steps.fit(messages["text"].to_list())
        return self

    def encode(self, messages: pl.DataFrame) -> np.ndarray:
        """Return unit vectors."""
        return unit_rows(self._steps.transform(messages["text"].to_list()).astype(np.float32))


def words_and_pairs() -> ScikitLearn:
    """Whole words and word pairs: what n-grams compete with."""
    return ScikitLearn(
        TfidfVectorizer(ngram_range=(1, 2), min_df=2, max_features=30_000, sublinear_tf=True)
    )


def scikit_learn_ngrams() -> ScikitLearn:
    """The n-grams of tfidf-svd, by scikit-learn."""
    weigh = TfidfVectorizer(
        analyzer="char_wb", ngram_range=(3, 4), min_df=2, max_features=30_000, sublinear_tf=True
    )
    return ScikitLearn(weigh)


def scikit_learn_hashing() -> ScikitLearn:
    """The same n-grams, hashed to 2^18 columns."""
    count = HashingVectorizer(
        analyzer="char_wb", ngram_range=(3, 4), n_features=2**18, alternate_sign=False, norm=None
    )
    return ScikitLearn(count, TfidfTransformer(sublinear_tf=True))


#: Settings of tfidf-svd that were compared, each against the default above.
VARIANTS: dict[str, Callable[[], Any]] = {
    "tfidf-svd of words and pairs": words_and_pairs,
    "tfidf-svd by scikit-learn": scikit_learn_ngrams,
    "tfidf-svd by scikit-learn, hashed": scikit_learn_hashing,
    "tfidf-svd of 3 to 5 letters": lambda: TfidfSvd(lengths=(3, 4, 5)),
    "tfidf-svd of 15,000 n-grams": lambda: TfidfSvd(most=15_000),
    "tfidf-svd:128": lambda: TfidfSvd("128"),
    "tfidf-svd:512": lambda: TfidfSvd("512"),
}
#: The events of CrisisLexLT_28 that are mostly told in Spanish, Italian or Portuguese.
NON_ENGLISH = (
    "2012_Costa_Rica_earthquake",
    "2012_Guatemala_earthquake",
    "2012_Italy_earthquakes",
    "2012_Venezuela_refinery",
    "2013_Brazil_nightclub_fire",
    "2013_Sardinia_floods",
    "2013_Spain_train_crash",
)
Part = tuple[np.ndarray, np.ndarray]


def make(name: str) -> Any:
    """Return the encoder or the variant called ``name``."""
    return VARIANTS[name]() if name in VARIANTS else encoder(name)


def parts_of(name: str) -> list[str]:
    """Return the names of the encoders that are joined in ``name``."""
    return [name] if name in VARIANTS else split_specification(name)


def vectors(
    name: str, train: pl.DataFrame, validation: pl.DataFrame, seen: dict[str, Part]
) -> Part:
    """Encode both parts; what is joined is encoded once and remembered in ``seen``."""
    for part in parts_of(name):
        if part not in seen:
            fitted = make(part).fit(train)
            seen[part] = (fitted.encode(train), fitted.encode(validation))
    if len(parts_of(name)) == 1:
        return seen[name]
    train_side, validation_side = zip(*(seen[part] for part in parts_of(name)), strict=True)
    return (
        np.hstack([unit_rows(one) for one in train_side]),
        np.hstack([unit_rows(one) for one in validation_side]),
    )


def regression(train: np.ndarray, events: np.ndarray, validation: np.ndarray) -> np.ndarray:
    """Predict with class-balanced logistic regression; vectors are brought to one scale first."""
    scale = np.sqrt(np.square(train).sum(axis=1).mean())
    model = LogisticRegression(C=10, class_weight="balanced", max_iter=200, tol=1e-3)
    return model.fit(train / scale, events).predict(validation / scale)


def centroid(train: np.ndarray, events: np.ndarray, validation: np.ndarray) -> np.ndarray:
    """Predict the event whose mean unit vector is nearest by cosine."""
    names, which = np.unique(events, return_inverse=True)
    sums = np.zeros((len(names), train.shape[1]), dtype=np.float32)
    np.add.at(sums, which, unit_rows(train))
    return names[(unit_rows(validation) @ unit_rows(sums).T).argmax(axis=1)]


def fixed_rows(name: str, messages: pl.DataFrame) -> dict[str, np.ndarray]:
    """Encode all messages once with an encoder that learns nothing; else return nothing."""
    if name not in ("wordllama", "minilm"):
        return {}
    return dict(zip(messages["id"], make(name).encode(messages), strict=True))


def scores(messages: pl.DataFrame, names: list[str]) -> Iterator[tuple[str, list[float]]]:
    """Yield for every seed and encoder its accuracies: regression, centroid, not English."""
    fixed = {part: fixed_rows(part, messages) for name in names for part in parts_of(name)}
    groups = near_duplicate_groups(messages["text"])
    for seed in SEEDS:
        split = per_class_split(messages, 15, 0, seed, keep_together=groups)
        train, validation = (split.filter(split=part) for part in ("train", "val"))
        seen = {
            name: tuple(np.stack([rows[i] for i in part["id"]]) for part in (train, validation))
            for name, rows in fixed.items()
            if rows
        }
        truth = validation["event"].to_numpy()
        foreign = np.isin(truth, NON_ENGLISH)
        for name in names:
            given = vectors(name, train, validation, seen)
            right = [
                predict(given[0], train["event"].to_numpy(), given[1]) == truth
                for predict in (regression, centroid)
            ]
            apart = right[0][foreign].mean() if foreign.any() else np.nan
            yield name, [right[0].mean(), right[1].mean(), apart]


def speed(name: str, messages: pl.DataFrame) -> tuple[int, float, float]:
    """Return the width, the seconds to fit, and how many messages a second are encoded.

    Seconds are those of the processor: other work on the machine does not count.
    """
    began = time.process_time()
    fitted = make(name).fit(messages)
    fitting = time.process_time() - began
    fitted.encode(messages.head(10))
    began = time.process_time()
    fitted.encode(messages)
    return fitted.width, fitting, len(messages) / (time.process_time() - began)


def installed(names: list[str]) -> list[str]:
    """Return the encoders that can be loaded here, and say which cannot."""
    usable = []
    probe = pl.DataFrame({"text": ["a flood here", "a flood there"]})
    for name in names:
        try:
            if name not in VARIANTS:
                make(name).fit(probe).encode(probe)
            usable.append(name)
        except MissingDependency as error:
            print(f"{name} is left out: {error.what}")
    return usable


def main() -> None:
    """Print one table per data set."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sources", nargs="+", help="names of built data sets, or message files")
    parser.add_argument("--encoders", nargs="+", default=[*ENCODERS, *VARIANTS])
    parser.add_argument("--per-event", type=int, help="thin larger events to this many messages")
    parser.add_argument("--timed", type=int, default=500, help="messages to time it with")
    given = parser.parse_args()
    names = installed(given.encoders)
    for source in given.sources:
        messages = without_locked(read(source).messages)
        if given.per_event:
            messages = messages.filter(pl.int_range(pl.len()).over("event") < given.per_event)
        found: dict[str, list[list[float]]] = {name: [] for name in names}
        for name, accuracies in scores(messages, names):
            found[name].append(accuracies)
        print(f"\n{source}: {len(messages)} messages, {messages['event'].n_unique()} events\n")
        print("| encoder | width | regression | centroid | regression, not English ", end="")
        print("| seconds to fit | messages/s |\n|---|---|---|---|---|---|---|")
        for name in names:
            cells = [
                "" if np.isnan(column).any() else f"{100 * column.mean():.1f} ± {100 * sd:.1f}"
                for column in np.array(found[name]).T
                for sd in [column.std(ddof=1)]
            ]
            width, fitting, rate = speed(name, messages.head(given.timed))
            print(
                f"| {name} | {width} | {' | '.join(cells)} | {fitting:.1f} | {rate:,.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
