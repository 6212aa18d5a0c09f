"""Text encoders: messages to vectors, by name, by name and argument, or several joined.

>>> encoder("wordllama").name
'wordllama'
>>> encoder("precomputed+tfidf-svd:64").name
'precomputed+tfidf-svd:64'
"""

from eventide.features.encoders.base import Encoder, State
from eventide.features.encoders.registry import DEFAULT_ENCODER, ENCODERS, encoder

__all__ = ["DEFAULT_ENCODER", "ENCODERS", "Encoder", "State", "encoder"]
