"""Text encoders: messages to vectors, by name, by name and argument, or several joined.

``wordllama``, ``tfidf-svd:128``, ``wordllama+tfidf-svd``. Adding one = one module, one test, one
line in this file.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from eventide.errors import BadSetting
from eventide.features.encoders.given import PYTHON, Function, given_encoder, given_name
from eventide.features.encoders.text_encoder import Encoder, State
from eventide.registry import Registry

_HERE = "eventide.features.encoders"

ENCODERS = Registry("encoder", plugins="eventide.encoders")
ENCODERS.add("wordllama", f"{_HERE}.wordllama:WordLlamaEncoder", "static vectors, bundled, English")
ENCODERS.add("tfidf-svd", f"{_HERE}.tfidf_svd:TfidfSvd", "fitted on the training text, any script")
ENCODERS.add("minilm", f"{_HERE}.minilm:MiniLm", "small sentence transformer, English (extra)")
ENCODERS.add(
    "transformers", f"{_HERE}.transformers:TransformersEncoder", "transformers:NAME or PATH (extra)"
)
ENCODERS.add("spacy", f"{_HERE}.spacy_vectors:SpacyEncoder", "spacy:PIPELINE (extra)")
ENCODERS.add(
    "word2vec", f"{_HERE}.word2vec_trained:word2vec", "word2vec:FILE, or learned from the corpus"
)
ENCODERS.add("precomputed", f"{_HERE}.precomputed:Precomputed", "the column `vector` as given")

#: Chosen on validation messages: see docs/encoders.md.
DEFAULT_ENCODER = "wordllama+tfidf-svd"


def encoder(specification: str | Encoder | Function) -> Encoder:
    """Make the encoder that ``specification`` describes.

    A part is a registered name with an optional ``:argument``; parts are joined with ``+``. An
    object with the members of `Encoder`, or a function from a list of texts to an array
    [texts, width], is taken as it is.

    >>> encoder("tfidf-svd:32").name
    'tfidf-svd:32'
    >>> encoder("wordlama")
    Traceback (most recent call last):
    eventide.errors.UnknownName: no encoder is called 'wordlama'
      next:  did you mean 'wordllama'? ...
    """
    if not isinstance(specification, str):
        return given_encoder(specification)
    parts = [_single(part) for part in split_specification(specification)]
    if len(parts) == 1:
        return parts[0]
    from eventide.features.encoders.joined import Joined

    return Joined(parts)


def encoder_name(specification: str | Encoder | Function) -> str:
    """Name an encoder as a saved model does; one that no registry can make is marked as such.

    >>> encoder_name("wordllama+tfidf-svd"), encoder_name(len)
    ('wordllama+tfidf-svd', 'python:len')
    """
    if isinstance(specification, str):
        return specification
    name = given_name(specification)
    heads = {part.partition(":")[0] for part in split_specification(name)}
    return name if all(head in ENCODERS or head == PYTHON for head in heads) else f"{PYTHON}:{name}"


def split_specification(specification: str) -> list[str]:
    """Split at the plus signs that join encoders, not at those inside a file's name.

    >>> split_specification("word2vec:c++/vectors.txt+tfidf-svd")
    ['word2vec:c++/vectors.txt', 'tfidf-svd']
    """
    head, _, argument = specification.partition(":")
    if "+" in head or not argument:
        first, plus, rest = specification.partition("+")
        return [first, *split_specification(rest)] if plus else [first]
    # inside an argument a plus sign joins only where a known encoder's name follows
    names = "|".join(re.escape(name) for name in ENCODERS.names())
    match = re.search(rf"\+(?=(?:{names})(?:[:+]|$))", argument)
    if match is None:
        return [specification]
    rest = argument[match.end() :]
    return [f"{head}:{argument[: match.start()]}", *split_specification(rest)]


def _single(part: str) -> Encoder:
    name, colon, argument = part.partition(":")
    if not name.strip() or (colon and not argument):
        raise BadSetting(
            f"an encoder specification has an empty part: {part!r}",
            next_step="write for example wordllama+tfidf-svd or word2vec:vectors.txt",
        )
    if name == PYTHON:
        raise BadSetting(
            f"the encoder {argument!r} was given in Python and cannot be made from its name",
            next_step="hand it over again: eventide.load(path, encoder=...)",
        )
    make: Callable[[str | None], Encoder] = ENCODERS.load(name)
    return make(argument or None)


__all__ = [
    "DEFAULT_ENCODER",
    "ENCODERS",
    "Encoder",
    "Function",
    "State",
    "encoder",
    "encoder_name",
]
