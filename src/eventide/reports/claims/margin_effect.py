"""How much can a margin change the pull on a message? Equation `eq_ucl` answers without data.

The derivative of the loss by the own similarity is -(1 - p_y) / temperature, where

    p_y = 1 / (1 + sum_{c != y} exp((margin + s_c - s_y) / temperature)).

Where all other similarities are alike, p_y depends on the number of classes and on the lead
s_y - s_c alone. The margin of a class is beta * uncertainty, at most beta.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from eventide.losses.settings import LossSettings
from eventide.reports.tables.table import Cell, Column, Figure, Table

FITTED = 0.9
"""The lead of a message that training has fitted: cosine 0.9 to its prototype, 0 to the others."""
LEADS = {"untrained": 0.0, "fitted": FITTED, "opposite": 2.0}
"""No lead before training; the largest that cosines can have is 1 - (-1)."""
USUAL = (7, 28, 100)
"""The classes of crisislex-t7, of crisislex-lt28 and of the paper's large sets."""


def pull(classes: int, margin: float, temperature: float, lead: float) -> float:
    """Return 1 - p_y where every other class is ``lead`` less similar than the own one.

    >>> round(pull(7, 0.0, 1.0, 0.0), 4)  # nothing learned: 6 of 7
    0.8571
    """
    return 1 / (1 + math.exp((lead - margin) / temperature) / (classes - 1))


def margin_effect(
    classes: int,
    beta: float = 0.1,
    temperature: float = 1.0,
    uncertainty: float = 1.0,
    lead: float = FITTED,
) -> float:
    """Return by which share a margin of beta * uncertainty makes the pull larger.

    >>> [f"{margin_effect(classes):.1%}" for classes in (7, 28, 100)]
    ['2.8%', '0.8%', '0.2%']
    >>> f"{margin_effect(7, temperature=0.1):.0%}"
    '171%'
    """
    with_margin = pull(classes, beta * uncertainty, temperature, lead)
    return with_margin / pull(classes, 0.0, temperature, lead) - 1


def effect_table(classes: int | None = None, used: Iterable[LossSettings] = ()) -> Table:
    """Give the effect of the largest margin for usual numbers of classes, and for ``classes``.

    The scale and temperature are the paper's, a temperature of 0.1, and those of the losses that
    are ``used``.
    """
    paper = LossSettings()
    settings = dict.fromkeys(
        (each.margin_scale, each.temperature)
        for each in (paper, paper.model_copy(update={"temperature": 0.1}), *used)
    )
    numbers = sorted({*USUAL, *([classes] if classes and classes > 1 else [])})
    rows: list[list[Cell]] = [
        [
            number,
            f"{beta:g}",
            f"{temperature:g}",
            *(
                Figure(margin_effect(number, beta, temperature, lead=lead))
                for lead in LEADS.values()
            ),
        ]
        for beta, temperature in settings
        for number in numbers
    ]
    columns = [
        Column("classes", "classes"),
        Column("beta", "beta", words=True),
        Column("temperature", "temperature", words=True),
        *(
            Column(name, f"{name}, lead {lead:g} (%)", scale=100, digits=1, signed=True)
            for name, lead in LEADS.items()
        ),
    ]
    return Table.build("margin-effect", TITLE, columns, rows, (ASSUMPTIONS,))


TITLE = "What the margin of a fully uncertain class changes in the pull 1 - p_y on a message"
ASSUMPTIONS = (
    "Computed from eq_ucl, without data: one view, uncertainty 1, all other classes equally "
    "similar. The lead is the own cosine less that of the others; a fitted message has 0.9 and 0. "
    "A more certain class has a smaller margin"
)
