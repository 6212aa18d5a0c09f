"""Messages are read, validated and filled once, whoever hands them on."""

import pytest

from calls import counted
from eventide.corpus.messages import Messages, read_messages
from eventide.data import read
from eventide.errors import EventideWarning, InputError, RejectedRows
from eventide.features.elements.fill import with_elements

TEXTS = [{"id": "a", "text": "flood in #Calgary"}, {"id": "b", "text": "Calgary is dry"}]
BAD = [*TEXTS, {"id": "c", "text": None}]


def test_elements_are_filled_once():
    with counted(read, with_elements) as calls:
        first = read_messages(TEXTS, entities="rules")
        again = read_messages(first, entities="rules")
    assert again is first
    assert calls == {"read": 1, "with_elements": 1}
    assert first.messages["hashtags"].to_list() == [["calgary"], []]


def test_an_intake_is_not_read_again():
    intake = read(TEXTS)
    with counted(read) as calls:
        messages = read_messages(intake, entities="none")
    assert not calls
    assert (messages.where, messages.rows_in) == (intake.where, intake.rows_in)
    assert messages.messages["entities"].to_list() == [[], []]


def test_elements_found_in_another_way_are_refused():
    """What rules found would pass for what the user gave."""
    messages = Messages.of(read(TEXTS), entities="rules")
    with pytest.raises(InputError, match="'rules', and 'given' is wanted"):
        Messages.of(messages, entities="given")


def test_labels_replace_the_events_of_messages_that_are_filled():
    messages = read_messages(TEXTS, entities="rules", events=["flood", None])
    assert messages.messages["event"].to_list() == ["flood", None]
    with counted(with_elements) as calls:
        other = read_messages(messages, entities="rules", events=["x", "y"])
    assert not calls
    assert other.messages["event"].to_list() == ["x", "y"]
    with pytest.raises(InputError, match="3 labels for 2 messages"):
        read_messages(messages, entities="rules", events=["x", "y", "z"])


def test_rows_that_cannot_be_used_are_told_or_refused():
    with pytest.warns(EventideWarning, match="set aside"):
        assert len(read_messages(BAD, entities="rules").messages) == 2
    with pytest.raises(RejectedRows, match="its answer"):
        read_messages(BAD, entities="rules", strict=True)
    with pytest.raises(RejectedRows, match="its label"):
        read_messages(BAD, entities="rules", events=["x", "y", "z"])
