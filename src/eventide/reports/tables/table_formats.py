"""Tables as Markdown, LaTeX, CSV, and for the terminal."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from eventide.reports.tables.table import MISSING, Cell, Column, Figure, Table
from eventide.reports.terminal_table import plain_table

if TYPE_CHECKING:
    from rich.console import RenderableType

LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "±": r"$\pm$",
}
ROWS_OF_A_PAGE = 35
FITTED = r"\resizebox{\ifdim\width>\linewidth \linewidth\else\width\fi}{!}{%"
"""Shrinks what is too wide, and leaves the rest as it is."""


def markdown(table: Table) -> str:
    """Draw a table in Markdown, the best figures in bold."""
    lines = [
        _line(flat(column.title) for column in table.columns),
        _line("---" if column.words else "---:" for column in table.columns),
    ]
    for row in table.rows:
        cells = (
            f"**{text}**" if _best(cell) else text
            for cell, column in zip(row, table.columns, strict=True)
            for text in [flat(column.text(cell))]
        )
        lines.append(_line(cells))
    notes = "".join(f"\n{flat(note)}.\n" for note in table.remarks)
    return f"### {flat(table.title)}\n\n" + "\n".join(lines) + f"\n{notes}"


def latex(table: Table) -> str:
    r"""Draw a table in LaTeX; it needs the packages booktabs and graphicx.

    A wide table is shrunk to the width of the text, a long one is continued in another table.

    >>> print(escaped("50 % of #a_b & \\c"))
    50 \% of \#a\_b \& \textbackslash{}c
    """
    starts = range(0, max(len(table.rows), 1), ROWS_OF_A_PAGE)
    return "\n".join(_latex_part(table, start, start == starts[-1]) for start in starts)


def _latex_part(table: Table, start: int, is_last: bool) -> str:
    kinds = "".join("l" if column.words else "r" for column in table.columns)
    part = start // ROWS_OF_A_PAGE + 1
    continued = f" (continued, part {part})" if part > 1 else ""
    lines = [
        r"% needs \usepackage{booktabs,graphicx}",
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{escaped(table.title + continued)}.}}",
        rf"\label{{{_label(table)}{f'-{part}' if part > 1 else ''}}}",
        FITTED,
        rf"\begin{{tabular}}{{{kinds}}}",
        r"\toprule",
        " & ".join(escaped(column.title) for column in table.columns) + r" \\",
        r"\midrule",
    ]
    for row in table.rows[start : start + ROWS_OF_A_PAGE]:
        cells = (_latex_cell(column, cell) for cell, column in zip(row, table.columns, strict=True))
        lines.append(" & ".join(cells) + r" \\")
    lines += [r"\bottomrule", r"\end{tabular}}"]
    if is_last and table.remarks:
        remarks = " ".join(f"{escaped(each)}." for each in table.remarks)
        lines += [r"\par\smallskip", rf"\parbox{{\linewidth}}{{\footnotesize {remarks}}}"]
    return "\n".join([*lines, r"\end{table}"]) + "\n"


def _label(table: Table) -> str:
    """Name a table to LaTeX: its name and its data, in letters that every engine takes."""
    words = re.findall(r"[a-z0-9]+", f"{table.name} {table.data}".lower())
    return f"tab:{'-'.join(words)}"


def comma_separated(table: Table) -> str:
    """Write a table for programs: unrounded, unscaled values, a deviation in its own column.

    The last column, ``code``, names the code that made the table.
    """
    spread = [
        any(isinstance(cell, Figure) and cell.deviation is not None for cell in cells)
        for cells in _by_column(table)
    ]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    head: list[str] = []
    for column, wide in zip(table.columns, spread, strict=True):
        head += [column.key, f"{column.key}_deviation"] if wide else [column.key]
    code = [table.code] if table.code else []
    writer.writerow([*head, *["code"] * len(code)])
    for row in table.rows:
        line: list[object] = []
        for cell, wide in zip(row, spread, strict=True):
            figure = cell if isinstance(cell, Figure) else None
            line.append(cell if figure is None else figure.mean)
            line += [None if figure is None else figure.deviation] if wide else []
        writer.writerow([*line, *code])
    return out.getvalue()


def terminal(table: Table, width: int | None = None) -> RenderableType:
    """Draw a table for a person at a terminal; a star marks the best, with or without colours.

    Spare columns, the last ones first, are left out until the rest fits ``width``.
    """
    from rich.console import Group
    from rich.text import Text

    kept = _fitting(table, width)
    drawn = plain_table()
    for index in kept:
        column = table.columns[index]
        drawn.add_column(Text(column.title), justify="left" if column.words else "right")
    shown = [_starred(table, index) for index in kept]
    for at, row in enumerate(table.rows):
        cells = zip(shown, (row[index] for index in kept), strict=True)
        drawn.add_row(
            *(Text(texts[at], style="bold" if _best(cell) else "") for texts, cell in cells)
        )
    return Group(Text(table.title, style="bold"), drawn)


def left_out(table: Table, width: int) -> list[str]:
    """Name the columns that ``terminal`` leaves out at this width."""
    kept = _fitting(table, width)
    return [column.title for at, column in enumerate(table.columns) if at not in kept]


def without_deviations(table: Table) -> Table:
    """Return the table with means alone, for where there is little room."""
    rows = (
        tuple(replace(cell, deviation=None) if isinstance(cell, Figure) else cell for cell in row)
        for row in table.rows
    )
    return replace(table, rows=tuple(rows))


def _fitting(table: Table, width: int | None) -> list[int]:
    kept = list(range(len(table.columns)))
    widths = [
        max(len(text) for text in [table.columns[index].title, *_starred(table, index)]) + 2
        for index in kept
    ]
    for index in reversed(range(len(table.columns))):
        if width is None or sum(widths[each] for each in kept) <= width:
            break
        if table.columns[index].spare:
            kept.remove(index)
    return kept


def _starred(table: Table, index: int) -> list[str]:
    column, cells = table.columns[index], [row[index] for row in table.rows]
    any_best = any(map(_best, cells))
    return [column.text(cell) + (" *" if _best(cell) else "  ") * any_best for cell in cells]


def escaped(text: str) -> str:
    """Make text safe in LaTeX, sign by sign."""
    return "".join(LATEX.get(sign, sign) for sign in text)


def _latex_cell(column: Column, cell: Cell) -> str:
    if not isinstance(cell, Figure):
        return escaped(column.text(cell))
    spread = column.spread(cell)
    text = column.format_value(cell.mean) + (rf" \pm {spread}" if spread else "")
    return rf"$\mathbf{{{text}}}$" if cell.best else f"${text}$"


def _best(cell: Cell) -> bool:
    return isinstance(cell, Figure) and cell.best


def flat(text: str) -> str:
    """Keep a cell on one line and inside its column; names may hold any sign."""
    line = " ".join(text.split()) or MISSING
    return line.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _by_column(table: Table) -> list[list[Cell]]:
    return [[row[index] for row in table.rows] for index in range(len(table.columns))]
