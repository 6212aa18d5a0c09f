"""Named entities by rule, without a model: capitalised runs, known names, names in hashtags.

Patterns find the candidates; ``names`` decides which of their words are a name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache, partial
from itertools import chain

from eventide.features.elements import tags
from eventide.features.elements.pattern_search import Decide, Matches, Texts
from eventide.features.entities import word_lists as vocabulary
from eventide.features.entities.names import BREAK, PLACE_WORDS, names_in, names_in_hashtag

_CASED = r"\p{Latin}\p{Greek}\p{Cyrillic}\p{Armenian}\p{M}\p{N}"
_TAIL = rf"[{_CASED}]*(?:['’&‑-][{_CASED}]+)*['’]?"
_WORD = (
    r"(?:\p{Lu}(?:\.\p{Lu})+"
    rf"|(?:\p{{Lu}}|\p{{Ll}}\p{{Lu}}\p{{Ll}}|\d{{1,3}}(?:st|nd|rd|th)\s\p{{Lu}}){_TAIL})"
)
_JOIN = r"(?:de la|de los|de las|de|del|da|do|dos|das|di|della|du|des|von|van der|van|bin|al)"
_UNIT = rf"(?:(?:{vocabulary.OF_HEADS}) of (?:the )?)?{_WORD}"
_RUN = rf"{_UNIT}(?: (?:{_JOIN} )?{_UNIT})*(?: \d[\d.,:%/-]*)?"
# No \b anywhere: on text outside ASCII it costs ten times as much as a consumed character.
CANDIDATES = (
    rf"(?:{BREAK}[\s'\"“‘«(\[]*|[^{_CASED}_](?:{'|'.join(PLACE_WORDS)}) |[^{_CASED}_]){_RUN}"
)
# Scripts without capitals: titles in quotation marks and long katakana words.
CASELESS = r"[「『《][^「」『』《》]{2,20}[」』》]|[\p{Katakana}ー][\p{Katakana}ー・]{3,}"
_FOREIGN = (
    " (?:el|los|las|una|que|por|para|con|est|les|des|dans|pour|une|il|che|della|sono|não|uma|dos|"
    "ang|mga|sa|der|und|ist) "
)
NOT_PROSE = (
    (tags.MENTIONS, " ¦ "),
    (tags.HASHTAGS, " ¦ "),
    (r"&(?:amp|gt|lt|quot|#\d+);", " ¦ "),
    (r"\b(?:RT|MT|HT|via)\b[\s¦:]*", f" {BREAK} "),
    (r"\b(St|Mt|Ft|Mr|Mrs|Ms|Dr|Gen|Sen|Gov|Lt|Sgt|Rep|Prof)\.", "$1"),
    (r"[!?…:;|\n\"“”„«»*•—–]+|\.+(?:\s|\z)|\s-+\s|\p{So}+", f" {BREAK} "),
    (r"[ \t]{2,}|\t", " "),
    ("^", f"{BREAK} "),
)
"""What marks the starts of sentences and takes out everything that is not prose."""
_SPACES = re.compile(f"[{tags.SPACE}]+")
_CAPITALISED = r" \p{Lu}\p{Ll}"
_SMALL = r" \p{Ll}{3,}"
_UMLAUTS = "[äöüß]"
_AROUND_NAMES = "#@ \t\n.,;:!?¦‖()[]{}<>'’‘\"“”„«»「」『』《》*-_/&"
_ENGLISH = (
    " (?:the|is|are|was|were|of|to|and|at|on|for|with|has|have|after|from|by|it|this|will|just|not|"
    "you|my|we|they|as|up|out|says|over|near|who|that|be|been|he|she|his|her|their|our|your|its) "
)
_GERMAN = (
    " (?:der|die|das|und|ist|nicht|im|auf|mit|für|den|dem|ein|eine|nach|bei|ich|wir|sie|zum|zur|"
    "von|vom|wird|sind|steht|unter) "
)
MANNER = (r"\p{Lu}", r"\p{Ll}", _CAPITALISED, _SMALL, _ENGLISH, _FOREIGN, _GERMAN, _UMLAUTS)
"""What is counted to tell how a message is written; from the fifth on, in its lower case."""


def found_entities(bare: Texts, hashtags: Matches) -> Iterator[tuple[Matches, Decide]]:
    """Yield candidates in texts without urls, and what tells the canonical names in one of them.

    ``hashtags`` are the runs of hashtags in the same texts.
    """
    prose = bare
    for pattern, instead in NOT_PROSE:
        prose = prose.replaced(pattern, instead)
    manners = list(_manners(prose))
    written: dict[str, list[tuple[int, str]]] = {manner: [] for manner in manners}
    for row, candidate in prose.matches(CANDIDATES):
        written[manners[row]].append((row, candidate))
    for manner, candidates in written.items():
        yield candidates, partial(_names, manner=manner)
    yield prose.matches(known_pattern()), lambda match: _canonical([match])
    yield prose.matches(CASELESS), _uncommon
    yield hashtags, _hashtag_names


def canonical_entity(value: str) -> str:
    """An entity in one case, without full stops, quotes and doubled spaces; it may be empty.

    >>> canonical_entity("St. Mary’s  Church"), canonical_entity("«U.S.»"), canonical_entity("...")
    ("st mary's church", 'us', '')
    """
    once = tags.canonical_tag(value)
    plain = _SPACES.sub(" ", once.replace(".", "")).replace("’", "'")
    # Again, because what a full stop stood between may now be one letter and its accent.
    return (plain if plain == once else tags.canonical_tag(plain)).strip(_AROUND_NAMES)


@cache
def known_pattern() -> str:
    """The pattern of every name that needs no capital letter, with what stands around it."""
    names = vocabulary.known_names() | vocabulary.caseless_names()
    # Thai and East Asian names stand in running text, without spaces around them.
    inside = [n for n in vocabulary.caseless_names() if n > "\u3040" or "\u0e00" < n < "\u0e80"]
    spaced = sorted(names - set(inside), key=_longest_first)
    words = rf"[^{tags.WORD}](?:{'|'.join(spaced)})(?:[^{tags.WORD}]|\z)"
    return rf"{words}|{'|'.join(sorted(inside, key=_longest_first))}"


def _longest_first(name: str) -> tuple[int, str]:
    return -len(name), name


def _manners(prose: Texts) -> Iterator[str]:
    """How each message is written, which decides how far its capitals can be believed."""
    folded = prose.lower()
    rows = zip(
        *(prose.counts(pattern) for pattern in MANNER[:4]),
        *(folded.counts(pattern) for pattern in MANNER[4:]),
        strict=True,
    )
    for upper, lower, capitals, small, english, foreign, german, umlauts in rows:
        if upper > 8 and upper > 2 * lower:
            yield "shout"
        elif capitals > 4 and capitals > 3 * small:
            yield "headline"
        elif not english and (german > 1 or (german and umlauts)):
            yield "german"
        else:
            yield "english" if english and not foreign else "other"


def _names(candidate: str, manner: str) -> list[str]:
    inside = not candidate.startswith(BREAK)
    return _canonical(names_in(candidate, "english" if inside and manner == "other" else manner))


def _uncommon(match: str) -> list[str]:
    return [] if match in vocabulary.common_words() else _canonical([match])


def _hashtag_names(match: str) -> list[str]:
    found = (names_in_hashtag(tag) for tag in tags.split_hashtags(match) if tag)
    return _canonical(chain.from_iterable(found))


def _canonical(names: Iterable[str]) -> list[str]:
    return [name for name in map(canonical_entity, names) if name]
