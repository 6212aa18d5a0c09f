"""A memory in shards: the same answers as one memory, every message in one shard."""

import numpy as np
import polars as pl
import pytest

from eventide import EventClassifier, load
from eventide.cluster.shards import LocalShard, key_ranges, memory_parts, shard_memory
from eventide.errors import BadSetting


@pytest.mark.parametrize("shards", [1, 3])
def test_shards_answer_as_one_memory_does(archive, same_opinions, shards):
    model, new = load(archive / "model"), pl.read_ndjson(archive / "in" / "new-00.jsonl")
    expected, few = model.opinions(new), model.opinions(new.head(2))
    assert shard_memory(model, shards) is model
    same_opinions(model.opinions(new), expected)
    same_opinions(model.opinions(new.head(2)), few)


def test_every_message_is_in_one_range():
    keys = np.random.default_rng(0).bytes(16 * 50)
    ids = np.frombuffer(keys, dtype="S16")
    ranges = key_ranges(ids, 4)
    assert sorted(np.concatenate(ranges).tolist()) == list(range(50))
    assert max(ids[ranges[0]]) < min(ids[ranges[1]])


def test_a_shard_holds_its_part_of_the_values(archive):
    model = load(archive / "model")
    whole, *_ = [LocalShard(*part["hashtag"]).stored_bytes for part in memory_parts(model, 1)]
    parts = [LocalShard(*part["hashtag"]).stored_bytes for part in memory_parts(model, 4)]
    assert max(parts) < 0.5 * whole


def test_what_cannot_be_cut_is_refused(archive, small_sample):
    model = load(archive / "model")
    with pytest.raises(BadSetting, match="0 shards"):
        list(memory_parts(model, 0))
    flat = EventClassifier(method="nearest-in-time", encoder="tfidf-svd:8").fit(small_sample)
    with pytest.raises(BadSetting, match="no memory that could be cut"):
        shard_memory(flat, 2)
