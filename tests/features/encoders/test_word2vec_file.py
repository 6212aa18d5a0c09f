"""Word vectors from files: both formats, zipped or not, and files that are something else."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eventide.errors import EventideError, MissingDependency, UnreadableSource
from eventide.features.encoders import State, encoder
from eventide.features.encoders.word2vec_file import read_keyed_vectors

WORDS = ["the", "Flood", "flood", "東京", "New_York", '"', "#"]
TABLE = np.random.default_rng(0).normal(size=(len(WORDS), 3)).astype(np.float32)


def as_text(ending: str = "\n") -> bytes:
    rows = [f"{w} " + " ".join(map(repr, map(float, v))) for w, v in zip(WORDS, TABLE, strict=True)]
    return f"{len(WORDS)} 3\n{''.join(row + ending for row in rows)}".encode()


def as_binary(ending: bytes = b"\n") -> bytes:
    rows = [
        w.encode() + b" " + v.astype("<f4").tobytes() + ending
        for w, v in zip(WORDS, TABLE, strict=True)
    ]
    return f"{len(WORDS)} 3\n".encode() + b"".join(rows)


@pytest.mark.parametrize(
    "content",
    [
        as_text(),
        as_text(" \n"),
        as_text()[:-1],
        as_binary(),
        as_binary(b""),
        gzip.compress(as_text()),
        gzip.compress(as_binary()),
    ],
    ids=["text", "spaces", "unended", "binary", "dense", "text.gz", "binary.gz"],
)
def test_every_form_of_the_file_gives_its_vectors(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "vectors"
    path.write_bytes(content)
    words, table = read_keyed_vectors(path)
    assert words == WORDS
    np.testing.assert_array_equal(table, TABLE)


def test_a_message_is_the_mean_of_its_known_words(tmp_path: Path) -> None:
    path = tmp_path / "v.bin"
    path.write_bytes(as_binary())
    texts = ["FLOOD in 東京!", "the New_York the", "nothing known"]
    vectors = encoder(f"word2vec:{path}").encode(pl.DataFrame({"text": texts}))
    np.testing.assert_allclose(vectors[0], TABLE[[1, 3]].mean(axis=0), atol=1e-6)
    np.testing.assert_allclose(vectors[1], TABLE[[0, 4, 0]].mean(axis=0), atol=1e-6)
    assert not vectors[2].any()


def test_another_file_at_the_same_place_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "v.txt"
    path.write_bytes(as_text())
    arrays, facts = encoder(f"word2vec:{path}").state()
    assert not arrays
    path.write_bytes(as_text().replace(b"the", b"thy"))
    with pytest.raises(UnreadableSource, match="sha256"):
        encoder(f"word2vec:{path}").restore(State(arrays, facts))


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "first line"),
        (b"flood 1 2 3\n", "first line"),
        (b"-1 3\n", "first line"),
        (b"0 3\n", "out of range"),
        (b"1 999999\nx", "out of range"),
        (b"99999999999999 3\n", "first line"),
        (b"2 3\na 1 2 3\n", "states 2 words and has 1"),
        (b"1 3\na 1 2 3\nb 1 2 3\n", "states 1 words and has 2"),
        (b"2 3\na 1 2 3\nb 1 2\n", "fewer than 3"),
        (b"2 3\na 1 2 3\nb 1 2 x\n", "word vectors"),
        (b"1 3\na 1 nan 3\n", "not finite"),
        (as_binary()[:-6], "goes astray"),
        (as_binary() + b"more", "more in it"),
        (b"1 2\n" + b"x" * 5000, "goes astray"),
        (gzip.compress(as_text())[:-12], "cannot be read"),
        (b"\x1f\x8bnot gzip at all", "cannot be read"),
    ],
)
def test_hostile_files_are_typed_errors(tmp_path: Path, content: bytes, why: str) -> None:
    path = tmp_path / "v"
    path.write_bytes(content)
    with pytest.raises(UnreadableSource, match=why):
        read_keyed_vectors(path)


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None
)
@given(
    st.sampled_from([as_text(), as_binary(), gzip.compress(as_text())]),
    st.integers(0, 200),
    st.binary(max_size=20),
)
def test_damage_anywhere_is_read_or_refused(
    tmp_path: Path, content: bytes, place: int, damage: bytes
) -> None:
    path = tmp_path / "v"
    path.write_bytes(content[:place] + damage + content[place + len(damage) // 2 :])
    try:
        words, table = read_keyed_vectors(path)
    except EventideError:
        return
    assert len(words) == len(table)
    assert np.isfinite(table).all()


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(MissingDependency, match=r"gone\.txt"):
        encoder(f"word2vec:{tmp_path / 'gone.txt'}").encode(pl.DataFrame({"text": ["a"]}))


def test_a_zipped_bomb_is_not_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "v.gz"
    with gzip.open(path, "wb") as file:
        file.write(b"1 2\na 1 2\n" + b"\n" * 50_000_000)
    words, table = read_keyed_vectors(path)
    assert words == ["a"]
    assert table.tolist() == [[1, 2]]
