"""Files that a page is made of: the chart library, and our own style and script.

``vendor/echarts`` holds Apache ECharts as published (Apache-2.0), with its licences. The desk may
serve the same file: `chart_library_path`.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import as_file, files
from pathlib import Path

ECHARTS_VERSION = "5.6.0"
ECHARTS_SHA256 = "bf4a223524e40b77c304bec67e1222cf551f14880cf42c69dc046558e11c07b1"


@cache
def asset(name: str) -> str:
    """Return the text of a file beside this module, such as ``report.css``."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def chart_library() -> str:
    """Return the chart library's code."""
    return asset("vendor/echarts/echarts.min.js")


def chart_library_path() -> Path:
    """Return the file of the chart library, for a server that hands it out."""
    with as_file(files(__package__).joinpath("vendor/echarts/echarts.min.js")) as path:
        return path
