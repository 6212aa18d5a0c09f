"""Row 14: nothing from outside reaches a terminal but what can be read."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventide.data.batch import EXCERPT, excerpt
from eventide.safe_text import JOINERS, escaped, safe, safe_lines

# Every code point, halves of characters too, and more often those that do harm.
HARMFUL = "\x00\x07\x08\t\n\r\x1b\x7f\x85\x9b\xad\u061c\u200b\u200d\u200e\u2028\u202e\u2066\ufeff"
ANY = st.text(st.one_of(st.characters(codec=None), st.sampled_from([*HARMFUL, "\ud800", "\ue000"])))


@given(ANY)
def test_what_is_shown_is_printable_and_one_line(text):
    """Row 14: the output is always printable, on one line, without an escape code."""
    shown = safe(text)
    assert "".join(sign for sign in shown if sign not in JOINERS).isprintable()
    assert len(shown.splitlines()) <= 1
    assert "\x1b" not in shown
    shown.encode("utf-8")
    for sign in shown:
        assert sign in JOINERS or unicodedata.category(sign) not in ("Cc", "Cf", "Cs", "Co", "Cn")


@given(ANY, st.integers(0, 30))
def test_a_cut_text_fits_and_is_still_safe(text, width):
    shown = safe(text, width)
    assert len(shown) <= width
    assert shown == safe(text) or shown.endswith("…") or width == 0


@given(ANY)
def test_safe_text_stays_as_it_is(text):
    assert safe(safe(text)) == safe(text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b]0;owned\x07", r"\x1b]0;owned\x07"),
        ("\x9b31mred", r"\x9b31mred"),
        ("user\u202egpj.exe", r"user\u202egpj.exe"),
        ("fl\u200bood", r"fl\u200bood"),
        ("fl\u200dood", r"fl\u200dood"),
        ("half \ud83d of one", r"half \ud83d of one"),
        ("  two\r\nlines\u2028and\x85more ", "two lines and more"),
        ("\u3164", r"\u3164"),
        ("smoke [red]over[/red] Łódź 🔥", "smoke [red]over[/red] Łódź 🔥"),
        ("می\u200cخواهم 👩\u200d🚒", "می\u200cخواهم 👩\u200d🚒"),
        (None, "None"),
    ],
)
def test_examples(text, shown):
    assert safe(text) == shown


def test_lines_of_our_own_stay_lines():
    assert safe_lines("what\n  where: a\x1bb\n  next:  do") == "what\n  where: a\\x1bb\n  next:  do"


@given(ANY)
def test_an_excerpt_of_a_bad_value_is_safe_too(text):
    """Row 14: what the quarantine keeps to show goes through the same function."""
    shown = excerpt(text)
    assert escaped(shown) == shown
    assert len(excerpt("x" * 200)) == EXCERPT


def test_an_excerpt_of_bytes():
    assert excerpt(b"caf\xe9 \x1b[1m") == r"caf\xe9 \x1b[1m"
