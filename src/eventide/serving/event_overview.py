"""Each event at a glance: volume over time, keywords, examples, doubt, confusion partners."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import Float, cast, func, select

from eventide.serving.store import MESSAGES, Store
from eventide.serving.stored_messages import iso

M = MESSAGES.c
RECENT = 4_000
"""Newest messages that keywords and examples come from."""

BINS = 48
WIDTHS = tuple(1000 * each for each in (60, 300, 900, 3_600, 21_600, 86_400, 604_800, 2_592_000))
KEYWORDS, EXAMPLES, PARTNERS = 8, 3, 3
LEANING = 0.3
"""Doubt from which on the runner-up counts as a confusion partner."""

_WORD = re.compile(r"(?:https?://\S+|@\w+)|(#?[^\W\d_]{3,})")


def words(text: str) -> set[str]:
    """Return the words of a text that may tell an event, without links and names.

    >>> sorted(words("Fire at https://t.co/x near #Oslo harbour, says @ann"))
    ['#oslo', 'fire', 'harbour', 'near', 'says']
    """
    return {found[1].lower() for found in _WORD.finditer(text) if found[1]}


def keywords(texts: Mapping[str, Iterable[str]], count: int = KEYWORDS) -> dict[str, list[str]]:
    """Return the words that tell each group of texts from the others.

    A word counts by its share in the group times the share of its uses that fall into the group.

    >>> keywords({"a": ["flood in town", "flood"], "b": ["fire in town"]}, 1)
    {'a': ['flood'], 'b': ['fire']}
    """
    counted = {name: Counter(w for text in own for w in words(text)) for name, own in texts.items()}
    total: Counter[str] = Counter()
    for each in counted.values():
        total.update(each)
    found = {}
    for name, own in counted.items():
        ranked = sorted(own, key=lambda word: (-own[word] * own[word] / total[word], word))
        found[name] = ranked[:count]
    return found


def bin_width(first: int, last: int) -> int:
    """Choose a width of time, in milliseconds, that gives at most `BINS` bins."""
    return next((each for each in WIDTHS if (last - first) // each < BINS), WIDTHS[-1])


def event_overview(store: Store, class_counts: Mapping[str, int]) -> dict[str, Any]:
    """Return every event that the model or a message has, the most frequent first."""
    moment = func.coalesce(M.created_at, M.received_at)
    assigned = M.assigned.is_not(None)
    with store.reading() as connection:
        totals = connection.execute(
            select(
                M.assigned,
                func.count(),
                func.avg(M.doubt),
                func.min(moment),
                func.max(moment),
                func.count(M.review_action),
            )
            .where(assigned)
            .group_by(M.assigned)
        ).all()
        spans = [(row[3], row[4]) for row in totals]
        first, last = min((a for a, _ in spans), default=0), max((b for _, b in spans), default=0)
        width = bin_width(first, last)
        at = func.floor(cast(moment, Float(53)) / width)
        volumes = connection.execute(
            select(M.assigned, at, func.count()).where(assigned).group_by(M.assigned, at)
        ).all()
        pairs = connection.execute(
            select(M.assigned, M.next_event, func.count())
            .where(assigned, M.doubt >= LEANING, M.next_event.is_not(None))
            .group_by(M.assigned, M.next_event)
        ).all()
        moved = connection.execute(
            select(M.review_event, M.event, func.count())
            .where(M.review_event.is_not(None), M.review_event != M.event)
            .group_by(M.review_event, M.event)
        ).all()
        recent = connection.execute(
            select(M.assigned, M.id, M.text, M.doubt, M.created_at)
            .where(assigned)
            .order_by(M.seq.desc())
            .limit(RECENT)
        ).all()
    timeline: dict[str, dict[int, int]] = defaultdict(dict)
    for event, step, count in volumes:
        timeline[event][int(step)] = int(count)
    partners: dict[str, Counter[str]] = defaultdict(Counter)
    for event, other, count in (*pairs, *moved):
        if other != event:
            partners[event][other] += int(count)
    examples: dict[str, list[dict[str, Any]]] = defaultdict(list)
    texts: dict[str, list[str]] = defaultdict(list)
    for event, message_id, text, _doubt, created in sorted(recent, key=lambda row: row[3]):
        texts[event].append(text)
        if len(examples[event]) < EXAMPLES and text not in [e["text"] for e in examples[event]]:
            examples[event].append({"id": message_id, "text": text, "created_at": iso(created)})
    telling = keywords(texts)
    start = first // width if totals else 0
    steps = last // width - start + 1 if totals else 0
    steps = min(steps, 10 * BINS)
    found = [
        {
            "event": event,
            "messages": int(count),
            "training_messages": class_counts.get(event, 0),
            "known": event in class_counts,
            "mean_doubt": float(doubt),
            "reviewed": int(reviewed),
            "first": iso(since),
            "last": iso(until),
            "volume": [timeline[event].get(start + step, 0) for step in range(steps)],
            "keywords": telling.get(event, []),
            "examples": examples[event],
            "confused_with": [
                {"event": other, "messages": number}
                for other, number in partners[event].most_common(PARTNERS)
            ],
        }
        for event, count, doubt, since, until, reviewed in totals
    ]
    seen = {each["event"] for each in found}
    for event, training in class_counts.items():
        if event not in seen:
            found.append(_silent(event, training, steps))
    found.sort(key=lambda each: (-each["messages"], -each["training_messages"], each["event"]))
    return {
        "bins": {"start": iso(start * width) if totals else None, "seconds": width // 1000},
        "events": found,
    }


def _silent(event: str, training: int, steps: int) -> dict[str, Any]:
    return {
        "event": event,
        "messages": 0,
        "training_messages": training,
        "known": True,
        "mean_doubt": None,
        "reviewed": 0,
        "first": None,
        "last": None,
        "volume": [0] * steps,
        "keywords": [],
        "examples": [],
        "confused_with": [],
    }
