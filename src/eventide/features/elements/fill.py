"""Fill the list columns of a message frame from its text, column by column, without row loops."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import polars as pl

from eventide.data.schema import read_part
from eventide.errors import BadSetting
from eventide.features.elements import tags, urls
from eventide.features.elements.small_batch_elements import (
    GIVEN,
    distinct,
    few_entities_of,
    few_tags_of,
    is_few,
)
from eventide.features.entities.rules import canonical_entities, entities_by_rule
from eventide.features.entities.spacy_entities import entities_by_spacy
from eventide.features.parallel import side_by_side
from eventide.registry import suggestion

LISTS = pl.List(pl.String)
Canonical = Callable[[pl.Series], pl.Series]


WAYS = ("rules", "given", "none")
SLICE = 250_000  # rows that one thread takes at a time


@dataclass(frozen=True)
class Kind:
    """How one kind of element is found and written canonically."""

    column: str
    find: Callable[[pl.DataFrame], pl.DataFrame] | None  # None: urls are found beforehand
    found: Canonical  # canonical form of what was found in text
    given: Canonical  # canonical form of what the user gave


KINDS = (
    Kind("hashtags", tags.find_hashtags, tags.found_hashtags, tags.canonical_tags),
    Kind("mentions", tags.find_mentions, tags.canonical_tags, tags.canonical_tags),
    Kind("urls", None, urls.found_urls, urls.canonical_urls),
)


def with_tags(messages: pl.DataFrame) -> pl.DataFrame:
    """Fill null ``hashtags``, ``mentions`` and ``urls`` from ``text``; tidy the ones given.

    >>> frame = pl.DataFrame({"text": ["Pray #Boston @bbc http://t.co/Ab1?s=20", "calm"]})
    >>> with_tags(frame).rows()[0][1:]
    (['boston'], ['bbc'], ['t.co/Ab1'])
    >>> with_tags(frame).rows()[1][1:]
    ([], [], [])
    """
    columns = [kind.column for kind in KINDS]
    if is_few(messages, columns):
        return messages.with_columns(_few_tagged(messages, columns))
    texts = read_part(messages["text"])
    needed = messages.select(texts, *(given_lists(messages, kind.column) for kind in KINDS))
    parts = side_by_side(_tagged, list(needed.iter_slices(SLICE)) or [needed])
    return messages.with_columns(pl.concat(parts))


def with_elements(messages: pl.DataFrame, *, entities: str = "rules") -> pl.DataFrame:
    """As ``with_tags``, and null ``entities`` filled too.

    ``entities`` is "rules" (no model), "spacy:<pipeline>", "given" (only the user's column) or
    "none" (nobody has any, not even the user's).

    >>> frame = pl.DataFrame({"text": ["Calgary is flooded #PrayForAlberta"]})
    >>> with_elements(frame)["entities"].to_list()
    [['calgary', 'alberta']]
    """
    check_entities(entities)
    pipeline = entities.removeprefix("spacy:")
    columns = [*(kind.column for kind in KINDS), "entities"]
    if entities in ("rules", "given") and is_few(messages, columns):
        named = _few_named(messages, search=entities == "rules")
        return messages.with_columns([*_few_tagged(messages, columns[:-1]), named])
    tagged = with_tags(messages)
    if entities == "none":
        return tagged.with_columns(pl.lit([], dtype=LISTS).alias("entities"))
    given = given_lists(messages, "entities")
    parts = [tidy(_given(given), canonical_entities)]
    rest = read_part(messages["text"]).to_frame().with_row_index("row").filter(given.is_null())
    if entities != "given" and rest.height:
        found = entities_by_rule(rest) if entities == "rules" else entities_by_spacy(rest, pipeline)
        parts.append(tidy(found, canonical_entities))
    return tagged.with_columns(merged("entities", messages.height, parts))


def check_entities(entities: object) -> None:
    """Refuse a way to find entities that there is not, before anything is read.

    >>> check_entities("rule")
    Traceback (most recent call last):
    eventide.errors.BadSetting: entities='rule' is not known
      next:  did you mean 'rules'? Known: rules, given, none, spacy:<pipeline>
    """
    pipeline = isinstance(entities, str) and entities.startswith("spacy:") and entities != "spacy:"
    if entities in WAYS or pipeline:
        return
    raise BadSetting(
        f"entities={entities!r} is not known",
        next_step=suggestion(entities, [*WAYS, "spacy:<pipeline>"]),
    )


def given_lists(messages: pl.DataFrame, column: str) -> pl.Series:
    """The lists the user gave, null in each row where there is none."""
    if column in messages.columns:
        return messages[column].cast(LISTS)
    return pl.repeat(None, messages.height, dtype=LISTS, eager=True).alias(column)


def tidy(flat: pl.DataFrame, canonical: Canonical) -> pl.DataFrame:
    """Lists of canonical values from a frame of (row, value), in order, none twice, none empty."""
    if flat.is_empty():  # saves a small batch most of its time
        return flat.select("row", pl.lit(None, dtype=LISTS).alias("value"))
    flat = flat.with_columns(pl.col("row").set_sorted(), canonical(flat["value"])).drop_nulls()
    again = flat.group_by("row", maintain_order=True).agg("value")
    several = pl.col("value").list.len() > 1
    unique = pl.col("value").list.unique(maintain_order=True)
    return again.with_columns(pl.when(several).then(unique).otherwise("value"))


def merged(column: str, height: int, parts: list[pl.DataFrame]) -> pl.Series:
    """One list per row, from frames of (row, value); rows of no frame get an empty list."""
    empty = pl.Series("value", [[]], dtype=LISTS)
    # Without one chunk, gathering lists is twenty times slower.
    lists = pl.concat([*(part["value"] for part in parts), empty], rechunk=True)
    rows = pl.concat([part["row"] for part in parts])
    where = pl.repeat(len(rows), height, dtype=pl.UInt32, eager=True)
    where = where.scatter(rows, pl.int_range(len(rows), dtype=pl.UInt32, eager=True))
    return lists.gather(where).alias(column)


def _tagged(messages: pl.DataFrame) -> pl.DataFrame:
    texts = messages.select("text").with_row_index("row")
    links = urls.find_urls(texts)
    signed = urls.signed_without_urls(texts, links)
    return pl.DataFrame(
        [_filled(messages[kind.column], kind, signed if kind.find else links) for kind in KINDS]
    )


def _filled(given: pl.Series, kind: Kind, texts: pl.DataFrame) -> pl.Series:
    """``given`` with its nulls filled from the texts, or from what was found in them before."""
    if given.null_count() < len(given):
        texts = texts.filter(given.is_null().gather(texts["row"]))
        own = [tidy(_given(given), kind.given)]
    else:
        own = []
    found = kind.find(texts) if kind.find else texts
    return merged(kind.column, len(given), [tidy(found, kind.found), *own])


def _few_tagged(messages: pl.DataFrame, columns: list[str]) -> list[pl.Series]:
    found = [few_tags_of(text) for text in messages["text"].to_list()]
    return [
        _few_filled(given_lists(messages, column), [tags[column] for tags in found])
        for column in columns
    ]


def _few_named(messages: pl.DataFrame, *, search: bool) -> pl.Series:
    given = given_lists(messages, "entities")
    pairs = zip(messages["text"].to_list(), given.to_list(), strict=True)
    found = [few_entities_of(text) if search and own is None else [] for text, own in pairs]
    return _few_filled(given, found)


def _few_filled(given: pl.Series, found: list[list[str]]) -> pl.Series:
    """``given``, written canonically, with its nulls filled from what was found."""
    lists = [
        other if own is None else distinct(own, GIVEN[given.name])
        for own, other in zip(given.to_list(), found, strict=True)
    ]
    return pl.Series(given.name, lists, dtype=LISTS)


def _given(given: pl.Series) -> pl.DataFrame:
    some = given.alias("value").to_frame().with_row_index("row")
    return some.filter(pl.col("value").list.len() > 0).explode("value")
