"""Keywords and telling messages."""

import numpy as np
import polars as pl

from eventide.reports.html.keywords import keywords, telling


def test_keywords_tell_events_apart_and_are_no_links_or_names():
    texts = pl.Series(
        ["Flood in the town http://a.example/flood @flooder", "the flood rises in town",
         "Fire in the town", "the fire burns in town", "ok"]
    )  # fmt: skip
    found = keywords(texts, np.array([0, 0, 1, 1, -1]), 3)
    assert found[0][0] == "flood"
    assert found[1][0] == "fire"
    assert found[2] == []
    assert "the" not in found[0] + found[1]
    assert not {"flooder", "example", "http"} & set(found[0])


def test_telling_messages_are_sure_and_distinct():
    texts = pl.Series(["flood here", "flood here", "hm", "flood rises", "unsure flood"])
    doubt = np.array([0.1, 0.1, 0.0, 0.05, 0.9])
    assert telling(texts, np.arange(5), ["flood"], doubt).tolist() == [3, 0, 2]
    assert telling(texts, np.zeros(0, int), ["flood"], doubt).tolist() == []
