"""Events2012_100 of the paper: English tweets of late 2012 about the 100 largest events."""

from __future__ import annotations

from functools import partial

from eventide.data.datasets import events100
from eventide.data.datasets.dataset import Dataset, TrainingFacts

COLUMNS = (
    "event_id",
    "tweet_id",
    "text",
    "user_id",
    "created_at",
    "user_loc",
    "place_type",
    "place_full_name",
    "place_country_code",
    "hashtags",
    "user_mentions",
    "urls",
    "entities",
    "words",
    "filtered_words",
    "sampled_words",
)
"""Columns of 68841_tweets_multiclasses_filtered_0722_part{1,2}.npy, in order."""

MAPPING = {"id": "tweet_id", "event": "event_id", "user": "user_id", "mentions": "user_mentions"}

DATASET = Dataset(
    name="events2012-100",
    messages=None,
    events=events100.EVENTS,
    source="the Events2012 corpus (McMinn et al. 2013) as a table with the columns of KPGNN's "
    "68841_tweets_multiclasses_filtered_0722_part1.npy and part2.npy",
    obtain="request the tweet ids and event labels from the corpus' authors and hydrate them, or "
    "use the KPGNN release's .npy files; then --from FOLDER, FILE or 'part*.npy' (also Parquet, "
    "CSV or JSONL with the same columns)",
    collect=partial(events100.collect, columns=COLUMNS, mapping=MAPPING),
    paper=TrainingFacts(messages=15_019, largest=2_377, smallest=55),
)
