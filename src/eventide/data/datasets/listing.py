"""Facts about every dataset of the registry, for tables, help and programs."""

from __future__ import annotations

from typing import Any

from eventide.data.datasets import DATASETS, registered_path
from eventide.errors import BrokenPlugin, UnreadableSource, warn


def listing() -> list[dict[str, Any]]:
    """Give one row per dataset: what it is, how large, where its source comes from, if it is built.

    >>> [row["name"] for row in listing()][:2]
    ['crisislex-t7', 'crisislex-lt28']
    """
    rows = []
    for entry in DATASETS:
        try:
            dataset = entry.load()
        except BrokenPlugin as error:  # another package's: ours are listed all the same
            warn(str(error))
            continue
        rows.append(
            {
                "name": entry.name,
                "messages": dataset.messages,
                "events": dataset.events,
                "what": entry.summary,
                "source": dataset.source,
                "obtain": dataset.obtain,
                "built": _built(entry.name),
            }
        )
    return rows


def _built(name: str) -> str | None:
    try:
        path = registered_path(name)
    except UnreadableSource:
        return None  # built once, but the file is gone: it has to be built again
    return str(path) if path else None
