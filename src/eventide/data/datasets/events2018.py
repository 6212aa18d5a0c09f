"""Events2018_100 of the paper: French tweets of summer 2018 about the 100 largest events."""

from __future__ import annotations

from functools import partial

from eventide.data.datasets import events100
from eventide.data.datasets.dataset import Dataset, TrainingFacts

COLUMNS = (
    "tweet_id",
    "user_name",
    "text",
    "time",
    "event_id",
    "user_mentions",
    "hashtags",
    "urls",
    "words",
    "created_at",
    "filtered_words",
    "entities",
    "sampled_words",
)
"""Columns of the French table in the KPGNN release, in order."""

MAPPING = {"id": "tweet_id", "event": "event_id", "user": "user_name", "mentions": "user_mentions"}

DATASET = Dataset(
    name="events2018-100",
    messages=None,
    events=events100.EVENTS,
    source="the Events2018 corpus (Mazoyer et al. 2020) as a table with the columns of the KPGNN "
    "release's French tweets",
    obtain="request the tweet ids and event labels from the corpus' authors and hydrate them, or "
    "use a KPGNN-style .npy file; then --from FOLDER, FILE or '*.npy' (also Parquet, CSV or JSONL "
    "with the same columns)",
    collect=partial(events100.collect, columns=COLUMNS, mapping=MAPPING),
    paper=TrainingFacts(messages=19_944, largest=4_189, smallest=27),
)
