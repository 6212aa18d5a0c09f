"""A table before it is drawn: typed columns, cells with their values, the best ones marked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from eventide.experiments.results import Spread

MISSING = "-"
PLUS_MINUS = "±"


@dataclass(frozen=True)
class Figure:
    """A value, usually a mean over runs with its deviation; ``best`` of its column or not."""

    mean: float
    deviation: float | None = None
    best: bool = False

    @classmethod
    def of(cls, spread: Spread | None) -> Figure | None:
        """Take a summary of runs; None stays None."""
        return None if spread is None else cls(spread.mean, spread.deviation)


Cell: TypeAlias = str | int | Figure | None


@dataclass(frozen=True)
class Column:
    """What a column is called, how its values are written, and which of them is best.

    ``key`` names it where a program reads; ``scale`` 100 makes per cent of shares; ``signed``
    writes a plus sign too; a ``spare`` column may be left out where there is little room. Below
    ``least`` a value is written as "< least": no p-value is 0.
    """

    key: str
    title: str
    scale: float = 1.0
    digits: int = 2
    best: Literal["high", "low"] | None = None
    words: bool = False
    signed: bool = False
    spare: bool = False
    least: float | None = None

    def format_value(self, value: float) -> str:
        """Write one value in this column's way.

        >>> Column("accuracy", "ACC", scale=100).format_value(0.93456)
        '93.46'
        >>> Column("p", "p", digits=3, least=0.001).format_value(0.0)
        '< 0.001'
        """
        if self.least is not None and value < self.least:
            return f"< {self.least:g}"
        sign = "+" if self.signed else ""
        return f"{value * self.scale:{sign}.{self.digits}f}"

    def text(self, cell: Cell) -> str:
        """Write a cell in plain words.

        >>> Column("accuracy", "ACC", scale=100).text(Figure(0.9, 0.012))
        '90.00 ± 1.20'
        """
        if cell is None:
            return MISSING
        if not isinstance(cell, Figure):
            return f"{cell:,}" if isinstance(cell, int) else cell
        spread = self.spread(cell)
        return self.format_value(cell.mean) + (f" {PLUS_MINUS} {spread}" if spread else "")

    def spread(self, figure: Figure) -> str:
        """Write the deviation alone; nothing where there is none."""
        if figure.deviation is None:
            return ""
        return f"{figure.deviation * self.scale:.{self.digits}f}"


@dataclass(frozen=True)
class Table:
    """Rows under columns, with a name for files, a title and notes for readers.

    ``data`` is what the figures are of, and ``code`` names the code that made them.
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = field(default=())
    data: str = ""
    code: str = ""

    @property
    def remarks(self) -> tuple[str, ...]:
        """The lines below the table: the notes, and which code made it."""
        return (*self.notes, f"Code: {self.code}") if self.code else self.notes

    @classmethod
    def build(
        cls,
        name: str,
        title: str,
        columns: Sequence[Column],
        rows: Iterable[Sequence[Cell]],
        notes: Iterable[str] = (),
    ) -> Table:
        """Mark the best figure of every column that has one, and drop columns without a cell."""
        listed = [list(row) for row in rows]
        for index, column in enumerate(columns):
            _mark(listed, index, column)
        used = [
            index
            for index in range(len(columns))
            if index == 0 or any(row[index] not in (None, "") for row in listed)
        ]
        return cls(
            name,
            title,
            tuple(columns[index] for index in used),
            tuple(tuple(row[index] for index in used) for row in listed),
            tuple(notes),
        )


def _mark(rows: list[list[Cell]], index: int, column: Column) -> None:
    """Mark the best as written: figures that read the same are equally good."""
    if column.best is None:
        return
    written = {
        row_index: float(column.format_value(cell.mean))
        for row_index, row in enumerate(rows)
        if isinstance(cell := row[index], Figure)
    }
    if len(written) < 2:
        return
    best = max(written.values()) if column.best == "high" else min(written.values())
    for row_index, value in written.items():
        cell = rows[row_index][index]
        if value == best and isinstance(cell, Figure):
            rows[row_index][index] = replace(cell, best=True)
