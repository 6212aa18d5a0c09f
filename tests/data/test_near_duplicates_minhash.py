"""Shingles and signatures against plain Python sets."""

import numpy as np
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from eventide.data.near_duplicates import HASHES, ShingleSets, shingles, signatures

text = st.text(st.characters(codec="utf-8", exclude_categories=("Cs",)), max_size=40)


def plain_set(line: str) -> set[str]:
    line = line.ljust(5)
    return {line[start : start + 5] for start in range(len(line) - 4)}


@settings(max_examples=60)
@given(st.lists(text, min_size=2, max_size=12))
def test_jaccard_equals_that_of_plain_sets(lines):
    first = np.repeat(np.arange(len(lines)), len(lines))
    second = np.tile(np.arange(len(lines)), len(lines))
    found = ShingleSets(pl.Series("text", lines)).jaccard(first, second)
    for one, other, value in zip(first, second, found, strict=True):
        a, b = plain_set(lines[one]), plain_set(lines[other])
        assert value == len(a & b) / len(a | b)


@given(st.lists(text, min_size=1, max_size=12))
def test_each_text_owns_its_shingles(lines):
    hashes, starts = shingles(pl.Series("text", lines))
    assert starts[-1] == len(hashes)
    for index, line in enumerate(lines):
        alone, _ = shingles(pl.Series("text", [line]))
        assert np.array_equal(hashes[starts[index] : starts[index + 1]], alone)


def test_signatures_agree_as_often_as_jaccard_says():
    random = np.random.default_rng(0)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz "))
    long = ["".join(random.choice(letters, 300)) for _ in range(40)]
    pairs = long + [line[: 300 - cut] for line, cut in zip(long, range(0, 280, 7), strict=True)]
    lines = pl.Series("text", pairs)
    first, second = np.arange(40), np.arange(40, 80)
    exact = ShingleSets(lines).jaccard(first, second)
    estimates = np.mean(
        [
            (s[first] == s[second]).mean(axis=1)
            for s in (signatures(lines, seed) for seed in range(10))
        ],
        axis=0,
    )
    assert signatures(lines, 0).shape == (80, HASHES)
    assert np.abs(estimates - exact).max() < 0.08
    assert abs((estimates - exact).mean()) < 0.01
