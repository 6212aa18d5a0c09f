"""A page that is one file: style, script, charts and data inside, and nothing from anywhere else.

The page's policy (CSP) lets only the two scripts run whose hashes it names, and no request leave.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from eventide.outputs import check_file
from eventide.reports.html.assets import asset, chart_library
from eventide.reports.html.chart import Chart
from eventide.reports.html.markup import Html, element, embedded_json, joined
from eventide.storage import atomic_file

SUFFIXES = (".html", ".htm")


@dataclass(frozen=True)
class Section:
    """A part of a page: its anchor, title, body, and the charts that stand in the body."""

    name: str
    title: str
    body: Html
    charts: tuple[Chart, ...] = ()


@dataclass(frozen=True)
class HtmlPage:
    """A self-contained page; ``save`` writes it, a notebook shows it inline."""

    title: str
    kicker: str
    lead: Html
    sections: Sequence[Section]
    footer: str = ""

    def html(self) -> str:
        """Return the whole file."""
        library, script = chart_library(), asset("report.js")
        charts = {
            chart.name: {"kind": chart.kind, **chart.data}
            for section in self.sections
            for chart in section.charts
        }
        policy = (
            "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
            f"form-action 'none'; script-src {_hash(library)} {_hash(script)}"
        )
        head = joined(
            element("meta", charset="utf-8"),
            element("meta", http_equiv="Content-Security-Policy", content=policy),
            element("meta", name="viewport", content="width=device-width, initial-scale=1"),
            element("meta", name="color-scheme", content="light dark"),
            element("meta", name="referrer", content="no-referrer"),
            element("meta", name="generator", content="eventide"),
            element("title", self.title),
            Html(f"<style>{asset('report.css')}</style>"),
        )
        data = Html(embedded_json(charts))
        body = joined(
            element("a", "Skip to the report", href="#report", class_="skip"),
            self._header(),
            element("main", (self._section(each) for each in self.sections), id="report"),
            element("footer", element("p", self.footer)),
            Html(f'<script type="application/json" id="chart-data">{data}</script>'),
            Html(f"<script>{library}</script><script>{script}</script>"),
        )
        return f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body>{body}</body></html>\n'

    def save(self, path: Path | str, *, overwrite: bool = False) -> Path:
        """Write the page; a crash leaves the old file or the new one, never half."""
        path = check_file(path, overwrite=overwrite, suffixes=SUFFIXES)
        return write_page(self, path)

    def _repr_html_(self) -> str:
        """Show the page inside a notebook, in a frame that can reach nothing outside of it."""
        return (
            f'<iframe title="{escape(self.title)}" sandbox="allow-scripts" '
            'style="width:100%;height:720px;border:1px solid #8884;border-radius:8px" '
            f'srcdoc="{escape(self.html())}"></iframe>'
        )

    def _header(self) -> Html:
        links = (
            element("li", element("a", each.title, href=f"#{each.name}")) for each in self.sections
        )
        return element(
            "header",
            element("p", self.kicker, class_="kicker"),
            element("h1", self.title),
            element("div", self.lead, class_="lead"),
            element("nav", element("ul", links), aria_label="Contents"),
        )

    def _section(self, section: Section) -> Html:
        return element(
            "section",
            element("h2", section.title, id=f"{section.name}-title"),
            section.body,
            id=section.name,
            aria_labelledby=f"{section.name}-title",
        )


def write_page(page: HtmlPage, path: Path) -> Path:
    """Write a page to a path that was checked before."""
    with atomic_file(path, "the report") as temporary:
        temporary.write_text(page.html(), encoding="utf-8")
    return path


def _hash(script: str) -> str:
    """Name a script in the policy: the browser runs no other."""
    return f"'sha256-{b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
