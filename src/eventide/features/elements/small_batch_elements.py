"""Elements of a handful of messages in plain Python: no column to set up, no pattern to compile.

A batch pays polars' fixed costs once; one message alone would pay them for nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import polars as pl

from eventide.features.elements import small_batch_tags as few_tags
from eventide.features.elements import urls
from eventide.features.elements.small_batch_tags import found_in, replaced
from eventide.features.entities import small_batch_entities as few_entities
from eventide.features.letters import known_to_both
from eventide.runtime.threads import FEW

LONGEST = 2_000  # characters; Python's regexes may take the square of it, Rust's never do

Canonical = Callable[[str], str | None]


def is_few(messages: pl.DataFrame, columns: Iterable[str]) -> bool:
    """Tell whether plain Python is the faster way, and sure to give the same.

    Texts of which only a part is read (`eventide.data.schema.read_part`) are longer than that.
    """
    if messages.height > FEW:
        return False
    texts = messages["text"].to_list()
    for column in columns:
        if column in messages.columns and messages[column].null_count() < messages.height:
            lists = messages[column].to_list()
            texts += [value for given in lists if given for value in given if value is not None]
    return all(text is not None and len(text) <= LONGEST and known_to_both(text) for text in texts)


def few_tags_of(text: str) -> dict[str, list[str]]:
    """The canonical hashtags, mentions and urls in one text.

    >>> few_tags_of("Pray #Boston @bbc http://t.co/Ab1?s=20")
    {'hashtags': ['boston'], 'mentions': ['bbc'], 'urls': ['t.co/Ab1']}
    """
    links = found_in(text, urls.URLS)
    bare = replaced(text, urls.URLS, " ") if links else text
    return {
        "hashtags": distinct(few_tags.hashtags_in(bare), few_tags.found_hashtag),
        "mentions": distinct(few_tags.mentions_in(bare), few_tags.canonical_tag),
        "urls": distinct(links, few_tags.found_url),
    }


def few_entities_of(text: str) -> list[str]:
    """The canonical entities in one text, by rule."""
    return distinct(few_entities.names_in_text(text), few_entities.canonical_entity)


GIVEN: dict[str, Canonical] = {
    "hashtags": few_tags.canonical_tag,
    "mentions": few_tags.canonical_tag,
    "urls": few_tags.canonical_url,
    "entities": few_entities.canonical_entity,
}
"""How each kind of element that the user gave is written."""


def distinct(values: Iterable[str | None], canonical: Canonical) -> list[str]:
    """The canonical values in order, none twice, none empty."""
    found = (canonical(value) for value in values if value is not None)
    return list(dict.fromkeys(value for value in found if value is not None))
