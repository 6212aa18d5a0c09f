"""The one look of tables on a terminal: no lines, bold names of columns, two blanks between."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table


def plain_table(title: str | None = None) -> Table:
    """Return a table without lines, so that narrow terminals have room for words."""
    from rich.table import Table

    return Table(
        title=title,
        title_justify="left",
        title_style="bold",
        header_style="bold",
        box=None,
        padding=(0, 2, 0, 0),
        pad_edge=False,
    )
