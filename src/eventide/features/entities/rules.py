"""Named entities by rule, without a model: capitalised runs, known names, names in hashtags.

Rust regexes find the candidates in all messages at once; ``names`` and ``hashtag_names`` then
decide once per distinct candidate, so the Python part shrinks as messages repeat each other.
"""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from eventide.features.elements import tags, urls
from eventide.features.entities import word_lists as vocabulary
from eventide.features.entities.names import BREAK, PLACE_WORDS, names_in, names_in_hashtag

_CASED = r"\p{Latin}\p{Greek}\p{Cyrillic}\p{Armenian}\p{M}\p{N}"
_TAIL = rf"[{_CASED}]*(?:['’&‑-][{_CASED}]+)*['’]?"
_WORD = (
    rf"(?:\p{{Lu}}(?:\.\p{{Lu}})+|\p{{Lu}}{_TAIL}|\p{{Ll}}\p{{Lu}}\p{{Ll}}{_TAIL}"
    rf"|\d{{1,3}}(?:st|nd|rd|th)\s\p{{Lu}}{_TAIL})"
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
FOREIGN = (
    " (?:el|los|las|una|que|por|para|con|est|les|des|dans|pour|une|il|che|della|sono|não|uma|dos|"
    "ang|mga|sa|der|und|ist) "
)
NOT_PROSE = (
    (tags.MENTIONS, " ¦ "),
    (tags.HASHTAGS, " ¦ "),
    (r"&(?:amp|gt|lt|quot|#\d+);", " ¦ "),
    (r"\b(?:RT|MT|HT|via)\b[\s¦:]*", f" {BREAK} "),
    (r"\b(St|Mt|Ft|Mr|Mrs|Ms|Dr|Gen|Sen|Gov|Lt|Sgt|Rep|Prof)\.", "$1"),
    (r"[!?…:;|\n\"“”„«»*•—–]+|\.+(?:\s|$)|\s-+\s|\p{So}+", f" {BREAK} "),
    (r"[ \t]+", " "),
)
BEFORE_NAMES = rf"^[^{_CASED}{BREAK}]"
SPACES = r"\s+"
CAPITALISED = r" \p{Lu}\p{Ll}"
SMALL = r" \p{Ll}{3,}"
UMLAUTS = "[äöüß]"
AROUND_NAMES = "#@ \t\n.,;:!?¦‖()[]{}<>'’‘\"“”„«»「」『』《》*-_/&"
ENGLISH = (
    " (?:the|is|are|was|were|of|to|and|at|on|for|with|has|have|after|from|by|it|this|will|just|not|"
    "you|my|we|they|as|up|out|says|over|near|who|that|be|been|he|she|his|her|their|our|your|its) "
)
GERMAN = (
    " (?:der|die|das|und|ist|nicht|im|auf|mit|für|den|dem|ein|eine|nach|bei|ich|wir|sie|zum|zur|"
    "von|vom|wird|sind|steht|unter) "
)


def entities_by_rule(messages: pl.DataFrame) -> pl.DataFrame:
    """Frame of (row, value): every name in ``row`` and ``text``, in the order of the rules."""
    plain = messages.select("row", text=_readable(pl.col("text")))
    plain = plain.with_columns(folded=pl.col("text").str.to_lowercase())
    plain = plain.with_columns(manner=_manner())
    cased = plain.select("row", "manner", value=pl.col("text").str.extract_all(CANDIDATES))
    known = plain.select("row", value=pl.col("text").str.extract_all(known_pattern()))
    caseless = plain.select("row", value=pl.col("text").str.extract_all(CASELESS))
    hashed = tags.find_hashtags(
        messages.filter(pl.col("text").str.contains("[#＃]")).with_columns(
            urls.without_urls(pl.col("text"))
        )
    )
    found = [
        _decided(cased.explode("value").drop_nulls("value"), ["value", "manner"], names_in),
        _flat(known),
        _flat(caseless).filter(~pl.col("value").is_in(vocabulary.common_words())),
        _decided(hashed, ["value"], lambda tag: names_in_hashtag(tag.lstrip("#＃"))),
    ]
    return pl.concat(found).sort("row", maintain_order=True)


def canonical_entities(values: pl.Series) -> pl.Series:
    """Entities in one case, without full stops, quotes and doubled spaces; null where none is left.

    >>> canonical_entities(pl.Series(["St. Mary’s  Church", "«U.S.»", "..."])).to_list()
    ["st mary's church", 'us', None]
    """
    plain = tags.canonical_tags(values).str.replace_all(".", "", literal=True)
    plain = plain.str.replace_all(SPACES, " ").str.replace_all("’", "'", literal=True)
    # Again, because what a full stop stood between may now be one letter and its accent.
    plain = tags.canonical_tags(plain).str.strip_chars(AROUND_NAMES)
    return tags.only(plain, plain != "")


def _readable(text: pl.Expr) -> pl.Expr:
    """``text`` with sentence starts marked and everything that is not prose taken out."""
    prose = urls.without_urls(text)
    for pattern, instead in NOT_PROSE:
        prose = prose.str.replace_all(pattern, instead)
    return pl.lit(f"{BREAK} ") + prose


def _manner() -> pl.Expr:
    """How a message is written, which decides how far its capitals can be believed."""
    text, folded = pl.col("text"), pl.col("folded")
    upper, lower = text.str.count_matches(r"\p{Lu}"), text.str.count_matches(r"\p{Ll}")
    capitals = text.str.count_matches(CAPITALISED)
    small = text.str.count_matches(SMALL)
    german = folded.str.count_matches(GERMAN)
    german = (german > 1) | ((german > 0) & folded.str.contains(UMLAUTS))
    english = folded.str.contains(ENGLISH)
    return (
        pl.when((upper > 8) & (upper > 2 * lower))
        .then(pl.lit("shout"))
        .when((capitals > 4) & (capitals > 3 * small))
        .then(pl.lit("headline"))
        .when(german & ~english)
        .then(pl.lit("german"))
        .when(english & ~folded.str.contains(FOREIGN))
        .then(pl.lit("english"))
        .otherwise(pl.lit("other"))
    )


def known_pattern() -> str:
    """The pattern of every name that needs no capital letter, with what stands around it."""
    names = vocabulary.known_names() | vocabulary.caseless_names()
    # Thai and East Asian names stand in running text, without spaces around them.
    inside = [n for n in vocabulary.caseless_names() if n > "\u3040" or "\u0e00" < n < "\u0e80"]
    spaced = sorted(names - set(inside), key=len, reverse=True)
    words = rf"[^\p{{L}}\p{{M}}\p{{N}}_](?:{'|'.join(spaced)})(?:[^\p{{L}}\p{{M}}\p{{N}}_]|$)"
    return rf"{words}|{'|'.join(sorted(inside, key=len, reverse=True))}"


def _simplified() -> list[pl.Expr]:
    """Candidates with fewer differences that do not matter, so that more of them are the same."""
    inside = ~pl.col("value").str.starts_with(BREAK)
    return [
        pl.col("value").str.replace(BEFORE_NAMES, " "),
        pl.when(inside & (pl.col("manner") == "other"))
        .then(pl.lit("english"))
        .otherwise("manner")
        .alias("manner"),
    ]


def _flat(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.explode("value").drop_nulls("value").select("row", "value")


def _decided(
    frame: pl.DataFrame, columns: list[str], decide: Callable[..., list[str]]
) -> pl.DataFrame:
    """``frame`` with each candidate replaced by the names in it, decided once per distinct one."""
    flat = frame.with_columns(_simplified()) if "manner" in columns else frame
    distinct = flat.select(columns).unique(maintain_order=True)
    decided = [decide(*row) for row in distinct.iter_rows()]
    # Flat, because polars is slow at taking Python lists of lists.
    owner = [number for number, names in enumerate(decided) for _ in names]
    answers = distinct[owner].with_columns(
        names=pl.Series([name for names in decided for name in names], dtype=pl.String)
    )
    return flat.join(answers, on=columns, maintain_order="left_right").select("row", value="names")
