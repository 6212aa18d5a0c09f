"""Guesses the language of messages by script and, for Latin script, by frequent function words.

The guess is good enough to notice that a file is in several languages. Short messages often have no
function word and stay "unclear".
"""

from __future__ import annotations

import polars as pl

from eventide.reports.profile.sections import ProfileSection

SAMPLED = 10_000
UNCLEAR = "unclear"

_SMALL_WORDS = {
    "English": "the and is are of to in for with this that you my was it on at have",
    "Spanish": "el la los las de que en y por con una para del se es no un está",
    "French": "le la les des et est une dans pour que du au pas sur avec qui ce un",
    "German": "der die das und ist nicht ein eine mit von zu im den auf für es ich sich",
    "Italian": "il di che la per un una non sono con del della gli è più nel anche i",
    "Portuguese": "o os as de que em não um uma para com do da no na mais por é",
    "Dutch": "de het een en van is dat niet op te voor met zijn aan er ook naar om",
    "Indonesian": "yang dan di ini itu dengan untuk dari ke tidak ada akan pada juga saya",
    "Tagalog": "ang ng sa mga na ay at po ko ako mo nang natin tayo kayo lang para si",
}
_SCRIPTS = {
    "Japanese": r"[\p{Hiragana}\p{Katakana}]",
    "Chinese": r"\p{Han}",
    "Korean": r"\p{Hangul}",
    "Arabic script": r"\p{Arabic}",
    "Cyrillic script": r"\p{Cyrillic}",
    "Greek": r"\p{Greek}",
    "Hebrew": r"\p{Hebrew}",
    "Thai": r"\p{Thai}",
    "Devanagari script": r"\p{Devanagari}",
}


class LanguageShare(ProfileSection):
    """A guessed language and its share of the sampled messages."""

    language: str
    share: float


class Languages(ProfileSection):
    """Guesses for ``sampled`` messages, taken at equal steps from all."""

    sampled: int
    guesses: tuple[LanguageShare, ...]


def languages(texts: pl.Series) -> Languages:
    """Guess the languages of ``texts``.

    >>> languages(pl.Series(["the water is in the house", "el agua está en la casa", "вода"])
    ...     ).model_dump()["guesses"][0]
    {'language': 'Cyrillic script', 'share': 0.3333333333333333}
    """
    step = max(1, -(-len(texts) // SAMPLED))
    sampled = texts.gather_every(step)
    if sampled.is_empty():
        return Languages(sampled=0, guesses=())
    guesses = guess(sampled).alias("language").value_counts(name="messages")
    ordered = guesses.sort("messages", "language", descending=[True, False])
    return Languages(
        sampled=len(sampled),
        guesses=tuple(
            LanguageShare(language=name, share=count / len(sampled))
            for name, count in ordered.iter_rows()
        ),
    )


def guess(texts: pl.Series) -> pl.Series:
    """Guess one language per text: the one with most function words; a tie or none is "unclear".

    >>> guess(pl.Series(["der Zug ist nicht da", "#flood"])).to_list()
    ['German', 'unclear']
    """
    words = pl.col("text").str.replace_all(r"[@#]\S+|https?://\S+", " ").str.to_lowercase()
    counts = [
        words.str.count_matches(rf"\b(?:{small.replace(' ', '|')})\b").alias(name)
        for name, small in _SMALL_WORDS.items()
    ]
    names = list(_SMALL_WORDS)
    frame = texts.alias("text").to_frame().with_columns(*counts)
    best = pl.max_horizontal(names)
    winners = pl.sum_horizontal(pl.col(name) == best for name in names)
    latin = pl.coalesce(pl.when(pl.col(name) == best).then(pl.lit(name)) for name in names)
    by_words = pl.when((best > 0) & (winners == 1)).then(latin).otherwise(pl.lit(UNCLEAR))
    by_script = pl.coalesce(
        pl.when(pl.col("text").str.contains(script)).then(pl.lit(name))
        for name, script in _SCRIPTS.items()
    )
    # One Japanese character does not make an English text Japanese: function words come first.
    by_both = pl.when(best > 1).then(by_words).otherwise(pl.coalesce(by_script, by_words))
    return frame.select(by_both.alias("language"))["language"]
