"""Which messages a person should look at first, and why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

DOUBT, CONFLICT, RARITY, NEW = 0.6, 0.2, 0.1, 0.1
"""What doubt, conflict between views, rarity of the event and a new event count for; sum 1."""

HIGH, RARE, FAR = 0.3, 0.8, 0.5


def class_rarity(counts: Mapping[str, int]) -> dict[str, float]:
    """Say how rare each event is: 0 for the largest, towards 1 for the smallest.

    >>> class_rarity({"flood": 100, "fire": 1})
    {'flood': 0.0, 'fire': 0.9}
    """
    largest = max(counts.values(), default=1) or 1
    return {event: round(1 - (count / largest) ** 0.5, 4) for event, count in counts.items()}


def priority(row: Mapping[str, Any], rarity: float) -> float:
    """Rank a message for review, 0 to 1: doubt, then conflict, rarity, and news.

    >>> priority({"doubt": 1.0, "conflict": 0.0, "verdict": "review"}, rarity=0.0)
    0.6
    """
    new = 1.0 if row["verdict"] == "new" else 0.0
    shares = (DOUBT * row["doubt"], CONFLICT * row["conflict"], RARITY * rarity, NEW * new)
    return float(min(max(sum(shares), 0.0), 1.0))


def reasons(row: Mapping[str, Any], views: Mapping[str, Any], training: int | None) -> list[str]:
    """Say in words why a message is asked about, the main reason first.

    >>> row = {"doubt": 0.7, "conflict": 0.0, "vacuity": 0.1, "verdict": "review"}
    >>> row |= {"next_event": "fire", "probability": 0.3, "next_belief": 0.25, "belief": 0.3}
    >>> reasons(row, {}, training=400)
    ['70 % doubt', 'it could also be fire']
    """
    told = []
    if row["verdict"] == "new":
        told.append("it may be about an event the model does not know")
    said_so = str(row.get("reason") or "")
    if said_so.startswith(("new: ", "perhaps new: ")):
        told.append(said_so.partition(": ")[2])
    told.append(f"{row['doubt']:.0%} doubt".replace("%", " %"))
    said = {str(each["event"]) for each in views.values() if each["uncertainty"] < FAR}
    if row["conflict"] > HIGH or len(said) > 1:
        told.append("the views disagree")
    if row["vacuity"] > HIGH:
        told.append("there is little evidence")
    close = row["next_belief"] is not None and row["next_belief"] > FAR * row["belief"]
    if close and row["next_event"]:
        told.append(f"it could also be {row['next_event']}")
    if training is not None and training < 30:
        told.append(f"a rare event: {training} training messages")
    return told
