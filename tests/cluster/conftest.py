"""A small model, messages that it does not know in many files, and what one process says of them."""

import json

import polars as pl
import pytest

from eventide import EventClassifier

PARAMETERS = {
    "encoder": "tfidf-svd:8",
    "training__epochs": 2,
    "training__least_steps": 0,
    "training__epoch_steps": 1,
    "network__layers": [16, 16],
    "network__dropout": 0.3,
    "network__head_dropout": 0.3,
}


@pytest.fixture(scope="package")
def archive(small_sample, tmp_path_factory):
    """A folder with a model, labelled messages, six files of new ones, and their opinions."""
    folder = tmp_path_factory.mktemp("archive")
    model = EventClassifier(**PARAMETERS).fit(small_sample)
    model.save(folder / "model")
    small_sample.write_parquet(folder / "labelled.parquet")
    (folder / "parameters.json").write_text(json.dumps(PARAMETERS))
    new = small_sample.select(pl.col("id") + "-new", "text", "created_at", "user")
    (folder / "in").mkdir()
    size = -(-len(new) // 6)
    for number in range(6):
        part = new[number * size : (number + 1) * size]
        part.write_ndjson(folder / "in" / f"new-{number:02}.jsonl")
    with (folder / "in" / "new-03.jsonl").open("a") as file:
        file.write('{"id": "broken\n')
    model.opinions(new).write_parquet(folder / "expected.parquet")
    return folder


@pytest.fixture
def same_opinions():
    """Check that two tables hold the same opinions, to 1e-5, whatever their order."""

    def check(found, expected):
        found, expected = found.sort("id"), expected.sort("id")
        assert found["id"].to_list() == expected["id"].to_list()
        assert found["event"].to_list() == expected["event"].to_list()
        for name in expected.select(pl.selectors.numeric()).columns:
            assert (found[name] - expected[name]).abs().max() < 1e-5, name

    return check
