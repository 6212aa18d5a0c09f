"""What a stored model wants from outside, and whether the user allows it.

Whoever wrote a model chose its encoder. Some encoders download weights, import packages or read
files on the machine that loads the model: a model of unknown origin must not decide that.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from eventide.errors import NotAllowed
from eventide.features.encoders.registry import split_specification


def wants(parameters: Mapping[str, Any], settings: Mapping[str, Any]) -> list[str]:
    """Name what a model would download, import or read beyond its own directory.

    >>> wants({"encoder": "wordllama+spacy:en_core_web_md", "entities": "rules"}, {})
    ['the spaCy pipeline en_core_web_md (its code is imported)']
    """
    found = [
        _wanted(*part.partition(":")[::2])
        for part in split_specification(str(parameters.get("encoder")))
    ]
    found.append(_wanted(*str(parameters.get("entities")).partition(":")[::2]))
    file = settings.get("text", {}).get("word_vectors")
    if file is not None:
        found.append(f"the file {file} (word vectors)")
    return list(dict.fromkeys(each for each in found if each))


def check_allowed(wanted: list[str], path: Path) -> None:
    """Raise `NotAllowed` if a model wants anything from outside."""
    if wanted:
        raise NotAllowed(
            f"the model wants {' and '.join(wanted)}",
            where=str(path),
            next_step="if you trust where it comes from: --allow-download (allow_download=True)",
        )


def _wanted(name: str, argument: str) -> str:
    if name == "transformers":
        return f"the checkpoint {argument} of transformers (downloaded unless it is here)"
    if name == "spacy":
        return f"the spaCy pipeline {argument} (its code is imported)"
    if name == "word2vec" and argument:
        return f"the file {argument} (word vectors)"
    return ""
