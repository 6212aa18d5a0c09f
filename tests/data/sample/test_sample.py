"""The built-in sample: a fair miniature, long-tailed, noisy, and the same for the same seed."""

import sys
import time
from collections import Counter, defaultdict

import numpy as np
import polars as pl
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, f1_score
from sklearn.neighbors import KNeighborsClassifier

from eventide.data.sample import sample
from eventide.data.sample.generator import events
from eventide.data.schema import LIST_COLUMNS, SCHEMA

TAG = r"#(\w+)"


@pytest.fixture(scope="module")
def messages() -> pl.DataFrame:
    return sample()


def sides(frame: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame, np.ndarray, np.ndarray]:
    train, test = frame.filter(split="train"), frame.filter(split="test")
    return train, test, train["event"].to_numpy(), test["event"].to_numpy()


def test_it_has_the_canonical_schema_and_leaves_elements_to_extraction(messages):
    assert dict(messages.schema) == SCHEMA
    assert messages["id"].n_unique() == messages.height
    for column in ("id", "text", "created_at", "event", "user", "split"):
        assert messages[column].null_count() == 0
    for column in LIST_COLUMNS:
        assert messages[column].null_count() == messages.height
    assert (messages["text"].str.strip_chars() == messages["text"]).all()
    assert not messages["text"].str.contains(r"[\[\]{}|]").any()  # every slot was filled


def test_its_shape_is_a_long_tail_of_twelve_events_over_thirty_days(messages):
    sizes = messages["event"].value_counts()["count"]
    assert 2400 <= messages.height <= 2600
    assert len(sizes) == 12
    assert sizes.max() / sizes.min() > 40
    training = messages.filter(split="train")["event"].value_counts()["count"]
    assert training.max() / training.min() > 40
    day = messages["created_at"].dt.date()
    assert 26 <= (day.max() - day.min()).days < 30
    assert messages["created_at"].is_sorted()


def test_every_event_is_on_every_side_of_the_split(messages):
    counts = messages.group_by("event", "split").len()
    assert counts.height == 36
    assert counts["len"].min() >= 4


def test_the_same_seed_gives_the_same_messages_quickly():
    start = time.perf_counter()
    once = sample(7)
    assert time.perf_counter() - start < 2
    assert once.equals(sample(7))
    assert not once.equals(sample(8))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_words_alone_are_good_but_not_enough(seed):
    train, test, known, truth = sides(sample(seed))
    vectors = TfidfVectorizer()
    model = LogisticRegression(class_weight="balanced", max_iter=1000)
    model.fit(vectors.fit_transform(train["text"]), known)
    found = model.predict(vectors.transform(test["text"]))
    accuracy, macro = accuracy_score(truth, found), f1_score(truth, found, average="macro")
    sys.stdout.write(f"seed {seed}: TF-IDF accuracy {accuracy:.3f}, macro-F1 {macro:.3f}\n")
    assert 0.75 <= accuracy <= 0.95
    assert 0.70 <= macro <= 0.95


def test_the_clock_alone_is_not_enough(messages):
    train, test, known, truth = sides(messages)
    moments = [frame["created_at"].dt.epoch("s").to_numpy()[:, None] for frame in (train, test)]
    found = KNeighborsClassifier(1).fit(moments[0], known).predict(moments[1])
    assert 1.5 / 12 < accuracy_score(truth, found) < 0.6


def test_hashtags_alone_are_not_enough(messages):
    train, test, known, truth = sides(messages)
    seen: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for tags, event in zip(train["text"].str.extract_all(TAG), known, strict=True):
        for tag in tags:
            seen[tag.lower()][event] += 1
    default = Counter(known).most_common(1)[0][0]
    found = []
    for tags in test["text"].str.extract_all(TAG):
        votes = sum((seen[tag.lower()] for tag in tags), Counter())
        found.append(votes.most_common(1)[0][0] if votes else default)
    assert 2 / 12 < accuracy_score(truth, found) < 0.75


def test_retweets_stay_on_the_side_of_their_original(messages):
    retweets = messages.filter(pl.col("text").str.starts_with("RT @")).with_columns(
        text=pl.col("text").str.replace(r"^RT @\w+: ", "")
    )
    assert 0.1 < retweets.height / messages.height < 0.3
    whole = retweets.filter(~pl.col("text").str.ends_with("…"))
    pairs = whole.join(messages, on=["event", "text"], suffix="_original")
    assert pairs["id"].n_unique() == whole.height
    same = (pairs["split"] == pairs["split_original"]).mean()
    assert same > 0.98  # two people may write the same short line
    after = pairs.group_by("id").agg((pl.col("created_at") > pl.col("created_at_original")).any())
    assert after["created_at"].all()


def test_there_is_noise_in_every_view(messages):
    text = messages["text"]
    assert 0.1 < (~text.str.contains("[#@]")).mean() < 0.4  # neither hashtag nor mention
    tags = messages.select("event", tag=text.str.to_lowercase().str.extract_all(TAG)).explode("tag")
    per_tag = tags.drop_nulls().group_by("tag").agg(pl.col("event").n_unique())
    spread = dict(per_tag.iter_rows())
    assert spread["#news"] >= 6  # about nothing
    assert spread["#flood"] == 2  # shared by kind
    assert spread["#halvmarflood"] >= 2  # by mistake
    wrong_place = messages.filter(event="tirnvale-flood")["text"].str.contains("Halvmar").mean()
    assert 0 < wrong_place < 0.3
    assert text.str.contains(r"@northradio").sum() > 10
    authors = messages.group_by("user").agg(pl.col("event").n_unique())
    assert authors.height > 300
    assert 0.05 < (authors["event"] > 1).mean() < 0.9
    assert messages.filter(event="kesselby-collision")["text"].str.contains("Zug|Ersatz").any()


def test_look_alikes_overlap_in_time(messages):
    spans = {
        event: (times.min(), times.max())
        for (event,), part in messages.group_by("event")
        for times in [part["created_at"]]
    }
    for event in events().values():
        start, end = spans[event.name]
        twin_start, twin_end = spans[event.twin]
        assert max(start, twin_start) < min(end, twin_end)
