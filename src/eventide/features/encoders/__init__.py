"""Text encoders: messages to vectors, by name, by name and argument, or several joined.

>>> encoder("wordllama").name
'wordllama'
>>> encoder("precomputed+tfidf-svd:64").name
'precomputed+tfidf-svd:64'
"""

from eventide.features.encoders.base import Encoder, State
from eventide.features.encoders.given import Function
from eventide.features.encoders.registry import DEFAULT_ENCODER, ENCODERS, encoder, encoder_name

__all__ = [
    "DEFAULT_ENCODER",
    "ENCODERS",
    "Encoder",
    "Function",
    "State",
    "encoder",
    "encoder_name",
]
