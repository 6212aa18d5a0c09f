"""Messages to a Parquet file, whole or not at all."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from eventide.storage import atomic_file


def write_parquet(messages: pl.DataFrame, path: Path) -> None:
    """Write ``messages`` to ``path``; a crash leaves the old file or the new one, never half."""
    with atomic_file(path) as temporary:
        messages.write_parquet(temporary)
