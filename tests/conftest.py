"""Shared fixtures: a small slice of the built-in sample, and the real data beside the checkout."""

import os
from pathlib import Path

from tree import SHARED

# One thread per test process: two processes run side by side, and threads that wait for each other
# on shared cores cost more than they give. Must be set before torch and polars are imported.
for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS"):
    os.environ.setdefault(name, "1")
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import polars as pl  # noqa: E402
import pytest  # noqa: E402
from hypothesis import settings  # noqa: E402

from eventide.data.sample import sample  # noqa: E402

# A busy machine must not fail a property that holds, and one commit must not pass today and fail
# tomorrow: examples are the same in every run. `--hypothesis-profile search` draws new ones.
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.register_profile("search", deadline=None)
settings.load_profile("repeatable")


@pytest.fixture(scope="session")
def small_sample() -> pl.DataFrame:
    """About 300 messages of five events of the sample, with its split."""
    messages = sample()
    largest = messages.group_by("event").len().sort("len", "event", descending=True)["event"]
    kept = messages.filter(pl.col("event").is_in(largest[[0, 3, 5, 8, 11]].to_list()))
    return kept.filter(pl.int_range(pl.len()).over("event", "split") < 60)


@pytest.fixture(scope="session")
def crisislex() -> Path:
    """The CrisisLex collection, where it lies beside the checkout."""
    path = SHARED / "data" / "CrisisLex"
    if not path.exists():
        pytest.skip("the CrisisLex collection is not beside the checkout")
    return path


@pytest.fixture(scope="session")
def tiny_bert(small_sample, tmp_path_factory) -> Path:
    """A folder with a BERT checkpoint of two narrow layers, untrained, that knows the sample's words."""
    import json

    import torch
    from safetensors.torch import save_file
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

    from eventide.features.encoders.bert_layers import BertConfig, BertEncoder

    folder = tmp_path_factory.mktemp("tiny-bert")
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    trainer = trainers.WordPieceTrainer(vocab_size=600, special_tokens=special, show_progress=False)
    tokenizer.train_from_iterator(small_sample["text"].to_list(), trainer)
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    tokenizer.save(str(folder / "tokenizer.json"))
    sizes = {
        "vocab_size": tokenizer.get_vocab_size(),
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 64,
        "max_position_embeddings": 128,
    }
    (folder / "config.json").write_text(json.dumps(sizes))
    with torch.random.fork_rng():
        torch.manual_seed(0)
        save_file(BertEncoder(BertConfig(**sizes)).state_dict(), folder / "model.safetensors")
    return folder
