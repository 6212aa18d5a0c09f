"""What a notebook shows of a model and of opinions: small HTML without a script."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from eventide.features.encoders import encoder_name
from eventide.registry import Registry
from eventide.safe_text import safe

if TYPE_CHECKING:
    from eventide.model.classifier import EventClassifier

PAGES = Registry("page")
"""Pages that a model can make of itself; their room lies above this one, so they are named."""
PAGES.add("report", "eventide.reports.html.model_report:model_report", "a page to show a colleague")
PAGES.add("figure", "eventide.reports.figures.recipe:model_figure", "a figure of a model")

LARGEST = 8
"""Events that the card of a model shows."""
ROWS, TEXT = 10, 60
"""Opinions that are shown, and letters of a name."""
SHOWN = ("id", "event", "doubt", "next_event")
"""Columns of opinions that a person reads first."""

STYLE = (
    "font-family:system-ui,sans-serif;font-size:13px;line-height:1.5;max-width:640px;"
    "border:1px solid #8886;border-radius:8px;padding:12px 16px"
)
CELL = "text-align:left;padding:2px 16px 2px 0"
NUMBER = "text-align:right;padding:2px 16px 2px 0;font-variant-numeric:tabular-nums"


class OpinionFrame(pl.DataFrame):
    """Opinions as a frame of polars; a notebook shows what a person reads first."""

    def _repr_html_(self, *, _from_series: bool = False) -> str:
        """Return a short table; frames that were cut to other columns look as polars has them."""
        if not set(SHOWN) <= set(self.columns):
            return str(super()._repr_html_(_from_series=_from_series))
        return opinions_html(self)


def opinions_html(opinions: pl.DataFrame) -> str:
    """Write the first opinions: event, doubt as a bar, the runner-up."""
    head = "".join(f'<th style="{CELL}">{name.replace("_", " ")}</th>' for name in SHOWN)
    body = "".join(
        f'<tr><td style="{CELL}">{_text(row["id"])}</td><td style="{CELL}"><b>'
        f"{_text(row['event'])}</b></td>"
        f'<td style="{NUMBER}">{row["doubt"]:.2f} {_bar(row["doubt"])}</td>'
        f'<td style="{CELL}">{_text(row["next_event"])}</td></tr>'
        for row in opinions.select(SHOWN).head(ROWS).iter_rows(named=True)
    )
    rest = len(opinions) - ROWS
    more = f"and {rest:,} more; " if rest > 0 else ""
    return (
        f'<div style="{STYLE}"><table style="border-collapse:collapse"><thead><tr>{head}</tr>'
        f"</thead><tbody>{body}</tbody></table><div>{more}{len(opinions.columns)} columns: "
        f"{_text(', '.join(opinions.columns), 400)}</div></div>"
    )


def model_html(model: EventClassifier) -> str:
    """Write a fitted model's card: what it is, what it knows, what can be asked next."""
    best = model.history_[model.best_epoch_ - 1] if model.history_ else {}
    counts = np.bincount(model.labels_[model.labels_ >= 0], minlength=len(model.classes_))
    order = np.argsort(-counts, kind="stable")
    facts: list[tuple[str, Any]] = [
        ("method", f"{model.method}, {model.protocol}, preset {model.preset}, seed {model.seed}"),
        ("encoder", encoder_name(model.encoder)),
        ("learned from", f"{int(counts.sum()):,} messages of {len(counts):,} events"),
    ]
    if "validation_accuracy" in best:
        told = f"{best['validation_accuracy']:.1%} accuracy, {best['validation_f1']:.1%} macro-F1"
        facts.append(("validation", f"{told} (epoch {model.best_epoch_} of {len(model.history_)})"))
    rows = "".join(
        f'<tr><td style="{CELL};opacity:.75">{name}</td><td style="{CELL}">{_text(value, 200)}</td>'
        "</tr>"
        for name, value in facts
    )
    names = model.class_names
    events = "".join(
        f'<tr><td style="{CELL}">{_text(names[index])}</td><td style="{NUMBER}">'
        f"{int(counts[index]):,} {_bar(counts[index] / max(int(counts.max()), 1))}</td></tr>"
        for index in order[:LARGEST]
    )
    rest = len(counts) - LARGEST
    more = f"<div>and {rest:,} smaller events</div>" if rest > 0 else ""
    table = '<table style="border-collapse:collapse">'
    return (
        f'<div style="{STYLE}"><b>EventClassifier</b>{table}{rows}</table>'
        f'<div style="margin-top:8px"><b>Events</b></div>{table}{events}</table>{more}'
        '<div style="margin-top:8px;opacity:.75"><code>model.report()</code> shows more, '
        "<code>model.report(messages)</code> what it makes of messages.</div></div>"
    )


def _bar(share: float) -> str:
    width = round(60 * min(max(float(share), 0.0), 1.0))
    return (
        '<span style="display:inline-block;width:60px;height:6px;background:#8883;'
        f'border-radius:3px"><span style="display:block;width:{width}px;height:6px;'
        'background:#6457c6;border-radius:3px"></span></span>'
    )


def _text(value: object, width: int = TEXT) -> str:
    return escape(safe(value, width))
