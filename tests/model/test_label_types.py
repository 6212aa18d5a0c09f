"""Row 4: a missing label in y is no label, however it is written."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from eventide.errors import EventideWarning, InputError
from eventide.model import EventClassifier
from eventide.model.label_types import labels_of

QUICK = {"method": "lr-encoder", "encoder": "tfidf-svd:16"}
TEXT = ["flood", None, "fire", None]
NUMBERS = ["3", None, "1", None]

MISSING = {
    "None": [None, None],
    "NaN": [float("nan"), np.float32("nan")],
    "NA and NaT": [pd.NA, pd.NaT],
    "time": [np.datetime64("NaT"), None],
    "blank": ["", "  \t"],
    "bytes": [b"", b" "],
}


@pytest.mark.parametrize("absent", MISSING.values(), ids=MISSING)
@pytest.mark.parametrize("box", [list, tuple, lambda y: np.array(y, dtype=object), iter])
def test_what_is_missing_is_no_label(absent, box):
    assert labels_of(box(["flood", absent[0], "fire", absent[1]])).names == TEXT
    assert labels_of(box([3, absent[0], 1, absent[1]])).names == NUMBERS


BOXES = {
    "array of text": (np.array(["flood", "", "fire", " "]), TEXT),
    "array of floats": (np.array([3, np.nan, 1, np.nan]), NUMBERS),
    "masked": (np.ma.array([3, 7, 1, 7], mask=[0, 1, 0, 1]), NUMBERS),
    "pandas": (pd.Series(["flood", None, "fire", np.nan]), TEXT),
    "pandas objects": (pd.Series(["flood", None, "fire", pd.NA], dtype=object), TEXT),
    "pandas string": (pd.Series(["flood", None, "fire", ""], dtype="string"), TEXT),
    "pandas Int64": (pd.Series([3, None, 1, None], dtype="Int64"), NUMBERS),
    "pandas floats": (pd.Series([3, None, 1, None]), NUMBERS),
    "categories": (pd.Categorical(["flood", None, "fire", np.nan]), TEXT),
    "series of categories": (pd.Series(["flood", None, "fire", None], dtype="category"), TEXT),
    "polars": (pl.Series(["flood", None, "fire", ""]), TEXT),
    "polars numbers": (pl.Series([3, None, 1, None]), NUMBERS),
    "polars categories": (pl.Series(["flood", None, "fire", None], dtype=pl.Categorical), TEXT),
    "arrow": (pa.array(["flood", None, "fire", None]), TEXT),
}


@pytest.mark.parametrize(("y", "names"), BOXES.values(), ids=BOXES)
def test_labels_come_in_any_box(y, names):
    assert labels_of(y).names == names


def test_text_that_was_a_missing_value_is_told_and_no_label():
    """np.array(["flood", np.nan]) holds the text 'nan'; nobody meant an event of that name."""
    with pytest.warns(EventideWarning, match="2 labels in y are the text 'nan', '<NA>'"):
        assert labels_of(np.array(["flood", np.nan, "fire", "<NA>"])).names == TEXT
    assert labels_of(["None", "Nan", "na"]).names == ["None", "Nan", "na"]


@pytest.mark.parametrize("y", [[None] * 3, [float("nan")] * 3, ["", " ", ""], [pd.NA] * 3])
def test_no_label_at_all_is_an_error(y):
    with pytest.raises(InputError, match="y holds no label: all 3 are missing"):
        labels_of(y)


@pytest.mark.parametrize(
    "y",
    ["flood", 7, {"a": 1}, {"flood", "fire"}, np.zeros((4, 2)), [["a"], ["b"]], np.array("flood")],
    ids=lambda value: type(value).__name__,
)
def test_what_is_no_list_of_labels_is_an_error(y):
    with pytest.raises(InputError, match="one label per message"):
        labels_of(y)


def test_unlabelled_messages_are_not_classes_but_in_the_graph(small_sample):
    events = small_sample["event"].to_list()
    y = [event if row % 4 else (None, np.nan, pd.NA, "")[row // 4 % 4]
         for row, event in enumerate(events)]  # fmt: skip
    model = EventClassifier(**QUICK).fit(small_sample.drop("event", "split"), y)
    assert set(model.classes_) == set(events)
    assert len(model.memory_) == len(small_sample)
    expected = np.mean((model.predict(small_sample) == events)[np.arange(len(events)) % 4 > 0])
    assert model.score(small_sample, y) == pytest.approx(expected)


def test_another_number_of_labels_is_an_error(small_sample):
    with pytest.raises(InputError, match=r"y has 2 labels for \d+ messages"):
        EventClassifier(**QUICK).fit(small_sample, ["a", "b"])
