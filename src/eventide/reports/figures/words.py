"""How figures put numbers that may be missing."""

from __future__ import annotations

from eventide.comparison.results import Spread


def said(value: float | None, form: str, nothing: str = "undefined") -> str:
    """Format a number, or say that there is none.

    >>> said(0.123, "+.2f"), said(None, ".3f", "empty")
    ('+0.12', 'empty')
    """
    return nothing if value is None else format(value, form)


def percent(spread: Spread | None, nothing: str) -> str:
    """Put a share in percent, with its deviation where there are several runs.

    >>> percent(Spread.of([0.8, 0.9]), "no run"), percent(Spread.of([0.5]), "no run")
    ('85.00 ± 7.07', '50.00')
    """
    if spread is None:
        return nothing
    deviation = "" if spread.deviation is None else f" ± {100 * spread.deviation:.2f}"
    return f"{100 * spread.mean:.2f}{deviation}"


def counted(count: int | str, one: str, many: str) -> str:
    """Put a number before its noun.

    >>> counted(1, "class", "classes"), counted("2 to 3", "class", "classes")
    ('1 class', '2 to 3 classes')
    """
    return f"{count} {one if str(count) == '1' else many}"
