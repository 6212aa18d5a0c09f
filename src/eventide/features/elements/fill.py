"""Fill the list columns of a message frame from its text."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain

import numpy as np
import polars as pl

from eventide.data.schema import read_part
from eventide.errors import BadSetting
from eventide.features.elements import tags, urls
from eventide.features.elements.pattern_search import Decide, Matches, searchable
from eventide.features.entities.rules import canonical_entity, found_entities
from eventide.features.entities.spacy_entities import spacy_matches
from eventide.features.parallel import side_by_side
from eventide.progress import track
from eventide.registry import suggestion
from eventide.runtime.threads import FEW

LISTS = pl.List(pl.String)
UNSOUGHT = ("none", "given")
WAYS = ("rules", *UNSOUGHT)
SLICE = 20_000  # rows that one thread takes at a time
CANONICAL: dict[str, Callable[[str], str]] = {
    "hashtags": tags.canonical_tag,
    "mentions": tags.canonical_tag,
    "urls": urls.canonical_url,
    "entities": canonical_entity,
}
"""How an element that the user gave is written; what comes out empty is none."""
TAGS = ("hashtags", "mentions", "urls")


def with_tags(messages: pl.DataFrame) -> pl.DataFrame:
    """Fill null ``hashtags``, ``mentions`` and ``urls`` from ``text``; tidy the ones given.

    >>> frame = pl.DataFrame({"text": ["Pray #Boston @bbc http://t.co/Ab1?s=20", "calm"]})
    >>> with_tags(frame).rows()[0][1:]
    (['boston'], ['bbc'], ['t.co/Ab1'])
    >>> with_tags(frame).rows()[1][1:]
    ([], [], [])
    """
    return _with_columns(messages, TAGS)


def with_elements(messages: pl.DataFrame, *, entities: str = "rules") -> pl.DataFrame:
    """As ``with_tags``, and null ``entities`` filled too.

    ``entities`` is "rules" (no model), "spacy:<pipeline>" or "none": nothing is found, and only
    the user's column counts. "given" is another name of "none".

    >>> frame = pl.DataFrame({"text": ["Oslo is flooded #PrayForNorway"]})
    >>> with_elements(frame)["entities"].to_list()
    [['oslo', 'norway']]
    >>> with_elements(frame, entities="none")["entities"].to_list()
    [[]]
    """
    check_entities(entities)
    if entities == "rules":
        return _with_columns(messages, (*TAGS, "entities"))
    tagged = with_tags(messages)
    given = _given(messages, "entities")
    if entities in UNSOUGHT or not given.null_count():
        return tagged.with_columns(_filled(given, []))
    rows = given.is_null().arg_true()
    bare = searchable(read_part(messages["text"]).gather(rows)).replaced(urls.URLS, " ")
    names = spacy_matches(bare.to_list(), entities.removeprefix("spacy:"))
    found = [(rows[row], name) for row, name in names]
    return tagged.with_columns(_filled(given, [(found, _one(canonical_entity))]))


def check_entities(entities: object) -> None:
    """Refuse a way to find entities that there is not, before anything is read.

    >>> check_entities("rule")
    Traceback (most recent call last):
    eventide.errors.BadSetting: entities='rule' is not known
      next:  did you mean 'rules'? Known: rules, none, given, spacy:<pipeline>
    """
    pipeline = isinstance(entities, str) and entities.startswith("spacy:") and entities != "spacy:"
    if entities in WAYS or pipeline:
        return
    raise BadSetting(
        f"entities={entities!r} is not known",
        next_step=suggestion(entities, [*WAYS, "spacy:<pipeline>"]),
    )


def _with_columns(messages: pl.DataFrame, columns: tuple[str, ...]) -> pl.DataFrame:
    lists = [_given(messages, column) for column in columns]
    needed = messages.select(read_part(messages["text"]), *lists)
    if len(needed) <= SLICE:  # nothing to join: that alone costs a message half a millisecond
        return messages.with_columns(_columns(needed))
    slices = list(needed.iter_slices(SLICE))
    found = side_by_side(_columns, slices)
    parts = track(found, f"finding elements in {len(messages):,} messages", total=len(slices))
    return messages.with_columns(map(pl.concat, zip(*parts, strict=True)))


def _columns(messages: pl.DataFrame) -> list[pl.Series]:
    """The list columns of ``messages``, found where null; all other columns are the text."""
    texts = searchable(messages["text"])
    bare = texts.replaced(urls.URLS, " ")  # so that a "#" or "@" in a url is not taken for a tag
    hashtags = tags.hashtag_matches(bare)
    finds: dict[str, Callable[[], Iterable[tuple[Matches, Decide]]]] = {
        "hashtags": lambda: [(hashtags, tags.found_hashtags)],
        "mentions": lambda: [(tags.mention_matches(bare), tags.found_mentions)],
        "urls": lambda: [(texts.matches(urls.URLS), urls.found_urls)],
        "entities": lambda: found_entities(bare, hashtags),
    }
    return [
        _filled(given, finds[given.name]() if given.null_count() else [])
        for given in messages.get_columns()
        if given.name in finds
    ]


def _given(messages: pl.DataFrame, column: str) -> pl.Series:
    """The lists the user gave, null in each row where there is none."""
    if column in messages.columns:
        return messages[column].cast(LISTS)
    return pl.Series(column, [None], dtype=LISTS).new_from_index(0, messages.height)


def _filled(given: pl.Series, finds: Iterable[tuple[Matches, Decide]]) -> pl.Series:
    """``given`` in canonical form, its nulls filled from what was found; no element twice."""
    rows: list[dict[str, None]] = [{} for _ in range(len(given))]
    for matches, decide in finds:
        decided: dict[str, list[str]] = {}
        for row, match in matches:
            names = decided.get(match)
            if names is None:
                names = decided[match] = decide(match)
            for name in names:
                rows[row][name] = None
    if given.null_count() < len(given):
        canonical = CANONICAL[given.name]
        for row, values in enumerate(given.to_list()):
            if values is not None:
                own = (canonical(value) for value in values if value is not None)
                rows[row] = {value: None for value in own if value}
    return _list_column(given.name, rows)


def _list_column(name: str, rows: list[dict[str, None]]) -> pl.Series:
    if len(rows) <= FEW:
        return pl.Series(name, list(map(list, rows)), dtype=LISTS)
    # Polars takes 4 µs for each Python list and next to nothing for a column that it groups.
    counts = list(map(len, rows))
    values = pl.Series(list(chain.from_iterable(rows)), dtype=pl.String)
    flat = pl.DataFrame({"row": np.repeat(np.arange(len(rows)), counts), name: values})
    lists = flat.group_by("row", maintain_order=True).agg(name)
    index = np.full(len(rows), len(lists))
    index[lists["row"].to_numpy()] = np.arange(len(lists))
    empty = pl.Series(name, [[]], dtype=LISTS)
    # Without one chunk, gathering lists is twenty times slower.
    return pl.concat([lists[name], empty], rechunk=True).gather(index)


def _one(canonical: Callable[[str], str]) -> Decide:
    def decide(match: str) -> list[str]:
        value = canonical(match)
        return [value] if value else []

    return decide
