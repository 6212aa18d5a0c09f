"""Specifications, the registry's promises for every encoder that runs here, joining, state."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from safetensors.numpy import load, save

from eventide.errors import BadSetting, MissingColumn, UnknownName, UnreadableSource
from eventide.features.encoders import (
    DEFAULT_ENCODER,
    ENCODERS,
    State,
    encoder,
    split_specification,
)
from eventide.features.encoders.minilm import PACKAGE

TEXTS = [
    "Flood waters rise in the valley, roads closed",
    "flood in the valley: bridge gone, roads under water",
    "Explosion at the factory shakes the town",
    "the town hears an explosion, smoke over the factory http://t.co/x1",
    "地震です、東京で強い揺れ",
    "東京で地震、強い揺れ",
    "น้ำท่วมเชียงใหม่",
    "น้ำท่วมที่เชียงใหม่หนักมาก",
    "Überschwemmung im Tal",
    "😀🔥🔥",
    "a",
]


@pytest.fixture
def messages() -> pl.DataFrame:
    vectors = np.random.default_rng(0).normal(size=(len(TEXTS), 5)).tolist()
    vectors[TEXTS.index("😀🔥🔥")] = [0.0] * 5
    return pl.DataFrame(
        {"id": [f"m{row}" for row in range(len(TEXTS))], "text": TEXTS, "vector": vectors},
        schema_overrides={"vector": pl.List(pl.Float32)},
    )


@pytest.fixture
def specification(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    name = request.param
    if "minilm" in name:
        pytest.importorskip(PACKAGE)
    if name == "word2vec:FILE":
        path = tmp_path / "vectors.txt"
        path.write_text("3 2\nflood 1 0\nvalley 0 1\nfactory 1 1\n")
        return f"word2vec:{path}"
    return name


every_encoder = pytest.mark.parametrize(
    "specification",
    [
        "wordllama",
        "tfidf-svd",
        "tfidf-svd:3",
        "minilm",
        "word2vec",
        "word2vec:FILE",
        "precomputed",
        "wordllama+tfidf-svd",
        "precomputed+word2vec+tfidf-svd:2",
    ],
    indirect=True,
)


@every_encoder
def test_every_encoder_keeps_the_protocol(specification: str, messages: pl.DataFrame) -> None:
    found = encoder(specification)
    assert all(hasattr(type(found), member) for member in ("fit", "encode", "state", "restore"))
    assert found.fit(messages) is found
    vectors = found.encode(messages)
    assert found.name == specification
    assert vectors.dtype == np.float32
    assert vectors.shape == (len(messages), found.width)
    assert np.isfinite(vectors).all()
    assert not vectors[TEXTS.index("😀🔥🔥")].any()
    assert vectors[0].any()
    assert found.encode(messages.head(0)).shape == (0, found.width)


@every_encoder
def test_a_vector_depends_on_its_own_message_only(
    specification: str, messages: pl.DataFrame
) -> None:
    found = encoder(specification).fit(messages)
    together = found.encode(messages)
    assert together.tobytes() == found.encode(messages).tobytes()
    alone = np.vstack([found.encode(messages.slice(row, 1)) for row in range(len(messages))])
    np.testing.assert_allclose(alone, together, atol=1e-6)
    backwards = found.encode(messages.reverse())[::-1]
    np.testing.assert_allclose(backwards, together, atol=1e-6)


@every_encoder
def test_fitting_twice_gives_the_same_bytes(specification: str, messages: pl.DataFrame) -> None:
    first, second = (encoder(specification).fit(messages).encode(messages) for _ in range(2))
    assert first.tobytes() == second.tobytes()


@every_encoder
def test_fitting_never_looks_at_labels(specification: str, messages: pl.DataFrame) -> None:
    plain = encoder(specification).fit(messages).encode(messages)
    labelled = messages.with_columns(event=pl.Series([str(r % 2) for r in range(len(messages))]))
    assert encoder(specification).fit(labelled).encode(messages).tobytes() == plain.tobytes()


@every_encoder
def test_state_survives_safetensors(specification: str, messages: pl.DataFrame) -> None:
    fitted = encoder(specification).fit(messages)
    arrays, facts = fitted.state()
    restored = encoder(specification).restore(State(load(save(arrays)), facts))
    assert restored.width == fitted.width
    assert restored.encode(messages).tobytes() == fitted.encode(messages).tobytes()


@every_encoder
def test_a_foreign_state_is_refused(specification: str) -> None:
    with pytest.raises(UnreadableSource):
        encoder(specification).restore(State({}, {}))


def test_parts_are_joined_at_unit_length(messages: pl.DataFrame) -> None:
    joined = encoder("precomputed+tfidf-svd").fit(messages)
    vectors = joined.encode(messages)
    given = encoder("precomputed").fit(messages).encode(messages)
    assert joined.width == vectors.shape[1]
    np.testing.assert_allclose(np.linalg.norm(vectors[0, :5]), 1, atol=1e-6)
    np.testing.assert_allclose(vectors[0, :5], given[0] / np.linalg.norm(given[0]), atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(vectors[0]), np.sqrt(2), atol=1e-6)


def test_a_joined_state_goes_to_its_own_parts(messages: pl.DataFrame) -> None:
    state = encoder("precomputed+tfidf-svd").fit(messages).state()
    with pytest.raises(UnreadableSource, match="part 0"):
        encoder("tfidf-svd+precomputed").restore(state)


@pytest.mark.parametrize(
    ("given", "parts"),
    [
        ("wordllama", ["wordllama"]),
        ("wordllama+tfidf-svd:64+minilm", ["wordllama", "tfidf-svd:64", "minilm"]),
        ("word2vec:a+b.bin", ["word2vec:a+b.bin"]),
        ("word2vec:a+b.bin+spacy:x", ["word2vec:a+b.bin", "spacy:x"]),
        ("tfidf-svd+word2vec:c:/d+e.txt", ["tfidf-svd", "word2vec:c:/d+e.txt"]),
        ("word2vec:a+minilm-vectors.txt", ["word2vec:a+minilm-vectors.txt"]),
    ],
)
def test_specifications_are_split_where_encoders_join(given: str, parts: list[str]) -> None:
    assert split_specification(given) == parts


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ("", BadSetting),
        ("+", BadSetting),
        ("wordllama+", BadSetting),
        ("word2vec:", BadSetting),
        ("wordllama:large", BadSetting),
        ("minilm:large", BadSetting),
        ("precomputed:3", BadSetting),
        ("tfidf-svd:none", BadSetting),
        ("tfidf-svd:0", BadSetting),
        ("tfidf-svd:-4", BadSetting),
        ("transformers", BadSetting),
        ("spacy", BadSetting),
        ("wordlama", UnknownName),
        ("wordllama+tfidf", UnknownName),
    ],
)
def test_bad_specifications_are_typed_errors(given: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        encoder(given)


def test_the_default_is_made_of_bundled_encoders(messages: pl.DataFrame) -> None:
    assert encoder(DEFAULT_ENCODER).fit(messages).encode(messages).any()


def test_missing_text_is_named() -> None:
    with pytest.raises(MissingColumn, match="found: id, body"):
        encoder("wordllama").encode(pl.DataFrame({"id": ["a"], "body": ["b"]}))


def test_listing_encoders_imports_nothing_heavy() -> None:
    code = (
        "import sys; from eventide.features.encoders import ENCODERS; ENCODERS.names();"
        "bad = {'torch', 'polars', 'sklearn', 'scipy', 'wordllama'} & set(sys.modules);"
        "sys.exit(', '.join(bad) or 0)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    assert len(ENCODERS.names()) == 7
