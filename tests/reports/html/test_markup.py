"""Markup of pages: every string is text, whatever it holds."""

import html
import json

from hypothesis import given
from hypothesis import strategies as st

from eventide.reports.html.markup import element, embedded_json, joined, message_text


@given(st.text(), st.text())
def test_text_and_attributes_cannot_leave_their_place(text, value):
    written = element("p", text, title=value)
    inside = written.removeprefix("<p title=").removesuffix("</p>")
    quoted, _, content = inside[1:].partition('">')
    for part in (quoted, content):
        assert not set('<>"') & set(html.escape(html.unescape(part)))
        assert "<" not in part
    assert '"' not in quoted


@given(st.recursive(st.text() | st.integers() | st.none(), st.lists))
def test_embedded_json_is_json_and_ends_no_element(value):
    written = embedded_json(value)
    assert json.loads(written) == value
    assert not set("<>&\u2028\u2029") & set(written)


def test_pieces_keep_blanks_and_nest():
    assert joined("a ", element("b", "c"), " d", None, 3) == "a <b>c</b> d3"
    assert element("td", [element("i", "x"), "y"], hidden=False, data_name="n") == (
        '<td data-name="n"><i>x</i>y</td>'
    )


def test_a_long_word_is_cut():
    assert len(message_text("w" * 10_000)) < 350
