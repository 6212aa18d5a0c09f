"""Named entities of one text by rule: what ``entities`` does, without its columns.

Patterns, word lists and decisions are shared; a property test holds the two ways together.
"""

from __future__ import annotations

from functools import cache

from eventide.features.elements import urls
from eventide.features.elements.rust_patterns import fitting
from eventide.features.elements.small_batch_tags import (
    canonical_tag,
    found_in,
    hashtags_in,
    holds,
    replaced,
)
from eventide.features.entities import rules as entities
from eventide.features.entities import word_lists as vocabulary
from eventide.features.entities.names import BREAK, names_in, names_in_hashtag


def names_in_text(text: str) -> list[str]:
    """All names in ``text``, not yet canonical; as ``entities.entities_by_rule``.

    >>> names_in_text("Calgary is flooded #PrayForAlberta")
    ['calgary', 'alberta']
    """
    prose = replaced(text, urls.URLS, " ")
    hashed = hashtags_in(prose)
    for pattern, instead in entities.NOT_PROSE:
        prose = replaced(prose, pattern, instead)
    prose = f"{BREAK} {prose}"
    manner = _manner(prose)
    found: list[str] = []
    for candidate in found_in(prose, entities.CANDIDATES):
        inside = not candidate.startswith(BREAK)
        believed = "english" if inside and manner == "other" else manner
        found += names_in(replaced(candidate, entities.BEFORE_NAMES, " ", 1), believed)
    found += found_in(prose, _known_pattern())
    common = vocabulary.common_words()
    found += [name for name in found_in(prose, entities.CASELESS) if name not in common]
    for tag in hashed:
        found += names_in_hashtag(tag.lstrip("#＃"))
    return found


def canonical_entity(value: str) -> str | None:
    """As ``entities.canonical_entities``, for one value.

    >>> canonical_entity("St. Mary’s  Church"), canonical_entity("...")
    ("st mary's church", None)
    """
    once = canonical_tag(value)
    if once is None:
        return None
    plain = replaced(once.replace(".", ""), entities.SPACES, " ").replace("’", "'")
    again = canonical_tag(plain)
    return None if again is None else again.strip(entities.AROUND_NAMES) or None


_known_pattern = cache(entities.known_pattern)


def _manner(prose: str) -> str:
    def count(pattern: str) -> int:
        return sum(1 for _ in fitting(pattern, prose).finditer(prose))

    upper, lower = count(r"\p{Lu}"), count(r"\p{Ll}")
    if upper > 8 and upper > 2 * lower:
        return "shout"
    capitals = count(entities.CAPITALISED)
    if capitals > 4 and capitals > 3 * count(entities.SMALL):
        return "headline"
    folded = prose.lower()
    german = len(found_in(folded, entities.GERMAN))
    english = holds(folded, entities.ENGLISH)
    if not english and (german > 1 or (german > 0 and holds(folded, entities.UMLAUTS))):
        return "german"
    return "english" if english and not holds(folded, entities.FOREIGN) else "other"
