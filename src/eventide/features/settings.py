"""Which pretrained material the text methods read."""

from __future__ import annotations

from eventide.setting_group import SettingGroup


class TextSettings(SettingGroup):
    """Where word vectors and weights come from.

    >>> TextSettings().checkpoint
    'minilm'
    """

    checkpoint: str = "minilm"
    """What `bert` fine-tunes: minilm, a folder with a BERT checkpoint, or its name on the hub."""
    word_vectors: str | None = None
    """What `word2vec` averages: a KeyedVectors file; null learns vectors from the training
    messages."""
