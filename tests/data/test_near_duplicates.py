"""Near-duplicates: recall against brute force, precision, growth, retweets."""

import time

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eventide.data.near_duplicates import (
    ShingleSets,
    banding,
    near_duplicate_groups,
    normalised,
)
from eventide.errors import BadSetting

WORDS = np.array([f"{a}{b}{c}" for a in "bdfgklmnprst" for b in "aeiou" for c in "lmnrstx"])


def sentences(random: np.random.Generator, count: int, length: int = 14) -> list[str]:
    return [" ".join(row) for row in random.choice(WORDS, (count, length))]


def edited(random: np.random.Generator, line: str, edits: int) -> str:
    words = line.split()
    for place in random.integers(0, len(words), edits):
        words[place] = str(random.choice(WORDS))
    return " ".join(words)


def components(count: int, pairs: list[tuple[int, int]]) -> list[int]:
    parent = list(range(count))

    def root(node: int) -> int:
        while parent[node] != node:
            node = parent[node]
        return node

    for one, other in pairs:
        parent[root(one)] = root(other)
    return [root(node) for node in range(count)]


def brute_force(lines: list[str], threshold: float) -> list[tuple[int, int]]:
    first, second = np.triu_indices(len(lines), 1)
    alike = ShingleSets(normalised(lines)).jaccard(first, second) >= threshold
    return list(zip(first[alike].tolist(), second[alike].tolist(), strict=True))


@pytest.mark.parametrize("seed", range(4))
def test_recall_of_pairs_at_and_above_the_threshold(seed):
    random = np.random.default_rng(seed)
    base = sentences(random, 1500)
    # One word of 14 changed: similarities land on both sides of 0.8.
    pairs = [(line, edited(random, line, 1)) for line in base]
    sets = ShingleSets(normalised([line for pair in pairs for line in pair]))
    similarity = sets.jaccard(np.arange(0, 3000, 2), np.arange(1, 3000, 2))
    groups = near_duplicate_groups([line for pair in pairs for line in pair], seed=seed)
    found = groups[0::2] == groups[1::2]
    just_above = (similarity >= 0.8) & (similarity < 0.85)
    assert just_above.sum() > 50
    assert found[just_above].mean() >= 0.95
    assert found[similarity >= 0.8].mean() >= 0.99
    assert not found[similarity < 0.8].any()


def test_components_equal_brute_force_in_a_crowded_bucket():
    random = np.random.default_rng(1)
    line = sentences(random, 1, 18)[0]
    lines = [edited(random, line, int(edits)) for edits in random.integers(1, 5, 400)]
    groups = near_duplicate_groups(lines)
    truth = np.array(components(len(lines), brute_force(lines, 0.8)))
    one, other = np.triu_indices(len(lines), 1)
    should, did = truth[one] == truth[other], groups[one] == groups[other]
    assert should.sum() > 100
    assert not (did & ~should).any()
    assert (did & should).sum() >= 0.95 * should.sum()


def test_retweets_case_and_urls_do_not_matter():
    groups = near_duplicate_groups(
        [
            "Bridge closed after the flood http://t.co/abc",
            "RT @city: Bridge closed after the flood http://t.co/xyz",
            "“RT @a: RT @city: BRIDGE closed   after the flood…",
            "Quite another matter altogether",
            "http://t.co/one",
            "http://t.co/two-quite-different-link",
        ]
    )
    assert groups.tolist() == [0, 0, 0, 1, 2, 3]


@settings(max_examples=60)
@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=30), max_size=25), st.integers(0, 5))
def test_any_text_has_a_group_and_equal_texts_share_it(lines, seed):
    groups = near_duplicate_groups(lines, seed=seed)
    assert len(groups) == len(lines)
    first_seen = list(dict.fromkeys(groups.tolist()))
    assert first_seen == list(range(len(first_seen)))
    by_text: dict[str, int] = {}
    for line, group in zip(normalised(lines), groups.tolist(), strict=True):
        assert by_text.setdefault(line, group) == group
    assert np.array_equal(
        groups, near_duplicate_groups(pl.Series(lines, dtype=pl.String), seed=seed)
    )


@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.8, 0.9, 1.0])
def test_bands_find_what_the_threshold_asks_for(threshold):
    bands, rows = banding(threshold)
    assert 1 - (1 - threshold**rows) ** bands >= 0.995


@pytest.mark.parametrize("threshold", [0, -1, 1.01, float("nan")])
def test_thresholds_out_of_range_are_refused(threshold):
    with pytest.raises(BadSetting):
        near_duplicate_groups(["a"], threshold)


def test_copies_of_one_text_and_of_one_template_cost_no_square():
    def seconds(lines: list[str]) -> float:
        start = time.process_time()
        assert near_duplicate_groups(lines).max() == 0
        return time.process_time() - start

    template = (
        "storm number {} reaches the coast and people are asked to leave their homes now please"
    )
    seconds([template.format(n) for n in range(500)])
    small = seconds([template.format(n) for n in range(3_000)])
    assert seconds([template.format(n) for n in range(12_000)]) < 12 * small  # a square: 16 times
    assert seconds(["the same words again"] * 200_000) < 5
