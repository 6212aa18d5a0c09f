"""A bar for people who wait, and none where there is nothing to count."""

from __future__ import annotations

import sys

import pytest

from eventide.progress import track


@pytest.mark.parametrize(("total", "drawn"), [(1, False), (2, True)])
def test_a_single_item_gets_no_bar_even_on_a_terminal(monkeypatch, total, drawn):
    asked = []
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(
        "rich.progress.track", lambda items, *_, **__: asked.append(total) or iter(items)
    )
    assert list(track(range(total), "counting", total=total)) == list(range(total))
    assert bool(asked) == drawn
