"""Small drawings in text: bars and sparklines."""

from __future__ import annotations

from collections.abc import Sequence

SPARKS = "▁▂▃▄▅▆▇█"
PLAIN_SPARKS = ".:-=+*#@"


def bar(share: float, width: int, *, plain: bool = False) -> str:
    """Draw ``share`` (0 to 1) of ``width`` characters; anything above nothing is seen.

    >>> bar(0.5, 8, plain=True), bar(0.001, 8, plain=True), bar(0, 8)
    ('####', '#', '')
    """
    length = round(share * width)
    return ("#" if plain else "█") * (max(1, length) if share > 0 else 0)


def sparkline(counts: Sequence[int], width: int, *, plain: bool = False) -> str:
    """Draw counts as one line; more counts than ``width`` are summed in equal runs.

    >>> sparkline([0, 1, 4, 8], 10)
    ' ▁▄█'
    """
    run = -(-len(counts) // width) if counts else 1
    sums = [sum(counts[start : start + run]) for start in range(0, len(counts), run)]
    signs = PLAIN_SPARKS if plain else SPARKS
    top = max(sums, default=0)
    return "".join(signs[(count * 8 + top - 1) // top - 1] if count else " " for count in sums)
