"""Read the paper's source: equations, lines of Algorithm 1, cells of tables."""

from __future__ import annotations

import re

import pytest

from tree import ROOT

PAPER = ROOT.parent / "shared" / "paper" / "ucl_sed.tex"


def source() -> str:
    """The paper without its comments; the test is skipped where the paper is not at hand."""
    if not PAPER.exists():
        pytest.skip("the paper's source is not beside this checkout")
    return re.sub(r"(?<!\\)%.*", "", PAPER.read_text(encoding="utf-8"))


def equations(text: str) -> list[tuple[str | None, str]]:
    """(label or None, body) of every equation environment, in order."""
    bodies = re.findall(r"\\begin\{equation\}(.*?)\\end\{equation\}", text, re.DOTALL)
    labels = [re.search(r"\\label\{(\w+)\}", body) for body in bodies]
    return [
        (label.group(1) if label else None, body)
        for label, body in zip(labels, bodies, strict=True)
    ]


def algorithm_lines(text: str) -> list[str]:
    """The numbered lines of Algorithm 1: heads of loops and single statements."""
    found = re.search(r"\\begin\{algorithm\}.*?\\KwOut(.*?)\\caption", text, re.DOTALL)
    assert found, "the paper has no algorithm"
    rest = found.group(1)
    rest = rest[_group_end(rest, 0) :]
    lines, statement, position = [], "", 0
    while position < len(rest):
        if rest.startswith(r"\For{", position):
            end = _group_end(rest, position + 4)
            lines.append(rest[position:end])
            position = rest.index("{", end) + 1
            continue
        ends = rest.startswith(r"\\", position) or _closes_block(statement, rest[position])
        if ends:
            lines.append(statement)
            statement, position = "", position + (2 if rest.startswith(r"\\", position) else 1)
            continue
        statement, position = statement + rest[position], position + 1
    return [" ".join(line.split()) for line in lines if line.strip()]


def _group_end(text: str, start: int) -> int:
    """Position after the balanced group that opens at or after ``start``."""
    depth = 0
    for position in range(text.index("{", start), len(text)):
        depth += {"{": 1, "}": -1}.get(text[position], 0)
        if depth == 0:
            return position + 1
    raise AssertionError("unbalanced braces")


def _closes_block(statement: str, character: str) -> bool:
    return character == "}" and statement.count("{") == statement.count("}")


def table(text: str, label: str) -> list[list[str]]:
    """Rows of cells of the table that carries ``label``, markup for weight and citation removed."""
    (body,) = (
        part
        for part in re.findall(r"\\begin\{table\}(.*?)\\end\{table\}", text, re.DOTALL)
        if f"\\label{{{label}}}" in part
    )
    found = re.search(r"\\begin\{tabular\}\{.*?\}\s*\n(.*?)\\end\{tabular\}", body, re.DOTALL)
    assert found, f"{label} has no tabular"
    inside = re.sub(r"\\(toprule|midrule|bottomrule|hline|cline\{[^}]*\})", "", found.group(1))
    inside = re.sub(r"~?\\cite\{[^}]*\}", "", inside)
    inside = re.sub(r"\\(?:textbf|textit)\{([^}]*)\}", r"\1", inside)
    rows = [row.split("&") for row in inside.split(r"\\")]
    return [[cell.strip().replace(r"\_", "_") for cell in row] for row in rows if len(row) > 1]
