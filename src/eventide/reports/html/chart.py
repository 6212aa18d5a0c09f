"""A chart of a page: what it shows, the same in words, and the same as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from eventide.reports.html.markup import Content, Html, element, joined


@dataclass(frozen=True)
class Chart:
    """A chart that the page's script draws.

    ``kind`` is a function of ``report.js``, ``data`` what it reads. ``says`` is the chart in one
    sentence, for whoever cannot see it; ``columns`` and ``rows`` are its values as a table.
    """

    name: str
    kind: str
    says: str
    data: Mapping[str, Any]
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[Content]] = field(default=(), repr=False)
    height: int = 320
    note: str = ""

    def html(self) -> Html:
        """Return its place in the page, with the table behind a fold."""
        place = element(
            "div",
            class_="chart",
            id=f"chart-{self.name}",
            data_chart=self.name,
            role="img",
            aria_label=self.says,
            style=f"height:{self.height}px",
        )
        table = None
        if self.rows:
            table = element(
                "details",
                element("summary", "The same as a table"),
                scrolling(plain_table(self.columns, self.rows), f"Values: {self.says}"),
                class_="values",
            )
        caption = element("figcaption", self.note) if self.note else None
        return element("figure", place, caption, table)


def plain_table(
    columns: Sequence[str], rows: Sequence[Sequence[Content]], **attributes: Any
) -> Html:
    """Write a table: the first cell of a row is its name, numbers stand to the right."""
    head = element(
        "tr", (element("th", name, scope="col", class_=_side(rows, k))
               for k, name in enumerate(columns)),
    )  # fmt: skip
    body = (
        element(
            "tr",
            element("th", row[0], scope="row"),
            (element("td", each, class_=_side(rows, k)) for k, each in enumerate(row) if k),
        )
        for row in rows
    )
    return element("table", element("thead", head), element("tbody", body), **attributes)


def scrolling(table: Html, label: str, *, tall: bool = False) -> Html:
    """Let a wide table scroll in its own box, by keyboard too; a ``tall`` one has all its rows."""
    kind = "scroll tall" if tall else "scroll"
    return element("div", table, class_=kind, tabindex=0, role="region", aria_label=label)


def listed(items: Sequence[Content], **attributes: Any) -> Html:
    """Write a list of points."""
    return element("ul", joined(element("li", each) for each in items), **attributes)


def _side(rows: Sequence[Sequence[Content]], column: int) -> str | None:
    """Numbers are told by their first sign."""
    values = [str(row[column]) for row in rows if column < len(row) and row[column] is not None]
    return "number" if values and all(v[:1] in "0123456789-–" or not v for v in values) else None
