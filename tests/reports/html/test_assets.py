"""The chart library: the published file, with its licences."""

import hashlib

from eventide.reports.html.assets import (
    ECHARTS_SHA256,
    ECHARTS_VERSION,
    asset,
    chart_library,
    chart_library_path,
)


def test_the_library_is_the_published_one():
    path = chart_library_path()
    assert hashlib.sha256(path.read_bytes()).hexdigest() == ECHARTS_SHA256
    assert f'version="{ECHARTS_VERSION}"' in chart_library()
    assert "</script" not in chart_library().lower()
    names = {each.name for each in path.parent.iterdir()}
    assert {"LICENSE.txt", "NOTICE.txt", "LICENSE-d3.txt", "LICENSE-zrender.txt"} <= names


def test_our_own_files_ask_for_nothing():
    for name in ("report.css", "report.js"):
        text = asset(name)
        assert "http" not in text
        assert "url(" not in text
        assert "innerHTML" not in text
