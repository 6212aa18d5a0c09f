"""The vectorised tokeniser against a naive one, and its keys against collisions."""

from __future__ import annotations

import re
from unicodedata import category, normalize

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from eventide.features.encoders.tokens import Lexicon, Scan, frequent, spelling_keys, tally

quick = settings(deadline=None, max_examples=60)
# what Python's Unicode tables know: polars may already know newer characters
assigned = st.characters(exclude_categories=("Cs", "Cn"))
texts = st.lists(st.text(assigned, max_size=30), min_size=1, max_size=5)
words = st.lists(st.sampled_from(["flood", "東京", "น้ำ", "a", "_x1", "😀", "#", "http://a.b"]))


def naive_words(text: str) -> list[str]:
    text = normalize("NFKC", re.sub(r"(?:https?://|www\.)\S+", " ", text)).lower()
    letters = [
        c
        if (category(c)[0] in "LN" or category(c) in ("Mn", "Mc") or c == "_")
        and not "\ufe00" <= c <= "\ufe0f"
        else " "
        for c in text
    ]
    return "".join(letters).split()


def naive_ngrams(text: str, length: int) -> list[str]:
    padded = [f" {word} " for word in naive_words(text)]
    return [p[i : i + length] for p in padded for i in range(len(p) - length + 1)]


def same_partition(keys: np.ndarray, spelled: list[str]) -> bool:
    """Equal spellings have equal keys and different ones different keys."""
    return (
        len(set(zip(keys.tolist(), spelled, strict=True)))
        == len(set(spelled))
        == len(set(keys.tolist()))
    )


@quick
@given(st.one_of(texts, words.map(" ".join).map(lambda t: [t, t + " end"])))
def test_words_are_those_of_a_naive_tokeniser(given_texts: list[str]) -> None:
    rows, keys = Scan(given_texts).words()
    spelled = [word for text in given_texts for word in naive_words(text)]
    expected = [row for row, text in enumerate(given_texts) for _ in naive_words(text)]
    assert rows.tolist() == expected
    assert same_partition(keys, spelled)


@quick
@given(texts, st.integers(3, 5))
def test_ngrams_are_those_of_a_naive_tokeniser(given_texts: list[str], length: int) -> None:
    rows, keys = Scan(given_texts).ngrams(length)
    spelled = [gram for text in given_texts for gram in naive_ngrams(text, length)]
    expected = [row for row, text in enumerate(given_texts) for _ in naive_ngrams(text, length)]
    assert rows.tolist() == expected
    assert same_partition(keys, spelled)


@quick
@given(st.lists(st.text(alphabet="ab", min_size=1, max_size=12), max_size=60, unique=True))
def test_a_key_does_not_depend_on_the_place(spellings: list[str]) -> None:
    alone = np.concatenate([np.zeros(0, np.uint64), *(Scan([w]).words().keys for w in spellings)])
    together = Scan([" ".join(spellings)]).words().keys
    assert alone.tolist() == together.tolist() == spelling_keys(spellings).tolist()
    assert len(set(alone.tolist())) == len(spellings)


def test_what_is_not_one_word_has_no_key() -> None:
    assert spelling_keys(["two words", "", "!", "one"]).tolist()[:3] == [0, 0, 0]
    assert spelling_keys([]).tolist() == []


def test_a_word_and_an_ngram_never_share_a_key() -> None:
    scan = Scan(["abcd abc"])
    assert not set(scan.words().keys.tolist()) & set(scan.ngrams(3).keys.tolist())


@quick
@given(st.lists(st.lists(st.integers(0, 9))), st.integers(1, 4), st.integers(1, 6))
def test_frequent_keys_are_counted_over_batches(
    batches: list[list[int]], least: int, most: int
) -> None:
    counts = tally(np.array(batch, dtype=np.uint64) for batch in batches)
    flat = [key for batch in batches for key in batch]
    assert dict(zip(*(part.tolist() for part in counts), strict=True)) == {
        key: flat.count(key) for key in flat
    }
    keys, numbers = frequent(counts, least=least, most=most)
    common = sorted(set(flat), key=lambda key: (-flat.count(key), key))
    expected = sorted([key for key in common if flat.count(key) >= least][:most])
    assert keys.tolist() == expected
    assert numbers.tolist() == [flat.count(key) for key in expected]


@quick
@given(st.sets(st.integers(0, 50)), st.lists(st.integers(0, 50)))
def test_a_lexicon_finds_exactly_its_keys(known: set[int], asked: list[int]) -> None:
    keys = sorted(known)
    columns = Lexicon(np.array(keys, dtype=np.uint64)).columns(np.array(asked, dtype=np.uint64))
    assert columns.tolist() == [keys.index(key) if key in known else -1 for key in asked]
