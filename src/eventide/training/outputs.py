"""A network's outputs, cut by rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from eventide.networks.multi_view import ViewOutput


def rows_of(outputs: Mapping[str, ViewOutput], rows: slice) -> dict[str, ViewOutput]:
    """Return what every view says of some of the messages."""
    return {
        view: replace(each, embeddings=each.embeddings[rows], logits=each.logits[rows])
        for view, each in outputs.items()
    }
