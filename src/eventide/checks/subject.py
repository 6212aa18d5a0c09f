"""A method under test: the models that the checks look at, each fitted when first asked for."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from eventide.classifier import EventClassifier

SEED = 3
ONE_OF_A_KIND = "only one message"


class Subject:
    """One method on labelled ``messages`` with a split; a tenth of them are kept as new ones."""

    def __init__(self, method: str, messages: pl.DataFrame, **parameters: Any) -> None:
        self.method = method
        self.parameters = {"seed": SEED, **parameters}
        tenth = pl.int_range(pl.len()) % 10 == 9
        self.known = messages.filter(~tenth)
        self.new = messages.filter(tenth)

    def fitted(self, messages: pl.DataFrame, **changes: Any) -> EventClassifier:
        """Fit a model on ``messages``."""
        return EventClassifier(method=self.method, **(self.parameters | changes)).fit(messages)

    @cached_property
    def model(self) -> EventClassifier:
        """The plain case, with the test messages in the graph as the paper has them."""
        return self.fitted(self.known)

    @cached_property
    def twin(self) -> EventClassifier:
        """The same again, but every test message is labelled with another event."""
        return self.fitted(relabelled(self.known, "test"))

    @cached_property
    def harsh(self) -> EventClassifier:
        """One epoch on unfriendly messages, without validation and test messages in the graph."""
        return self.fitted(self.unfriendly, protocol="inductive", training__epochs=1)

    @cached_property
    def harsh_twin(self) -> EventClassifier:
        """The same again, but every validation message is labelled with another event."""
        other = relabelled(self.unfriendly, "val")
        return self.fitted(other, protocol="inductive", training__epochs=1)

    @cached_property
    def unfriendly(self) -> pl.DataFrame:
        """The known messages with an event of one message, unlabelled rows, and a wordless one."""
        training = np.flatnonzero((self.known["split"] == "train").to_numpy())
        lone, wordless = (pl.int_range(pl.len()) == int(row) for row in training[:2])
        unlabelled = (pl.int_range(pl.len()) % 7 == 6) & ~lone
        return self.known.with_columns(
            event=pl.when(lone).then(pl.lit(ONE_OF_A_KIND)).when(~unlabelled).then(pl.col("event")),
            text=pl.when(wordless).then(pl.lit("\N{FIRE}\N{FIRE}")).otherwise(pl.col("text")),
            user=pl.when(~wordless).then(pl.col("user")),
        )


def relabelled(messages: pl.DataFrame, part: str) -> pl.DataFrame:
    """Give every labelled message of a part of the split another event, by turns.

    >>> frame = pl.DataFrame({"event": ["a", "b", None], "split": ["val", "test", "val"]})
    >>> relabelled(frame, "val")["event"].to_list()
    ['b', 'b', None]
    """
    events = messages["event"].drop_nulls().unique().sort().to_list()
    following = dict(zip(events, events[1:] + events[:1], strict=True))
    other = pl.col("event").replace(following)
    return messages.with_columns(
        event=pl.when(pl.col("split") == part).then(other).otherwise(pl.col("event"))
    )
