"""The restricted loader: reads what tables hold, runs nothing, never lets a traceback of pickle out."""

import os
import pickle
from contextlib import suppress
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eventide.data.datasets.npy_tables import load_table
from eventide.errors import UnreadableSource


def saved(path, rows):
    table = np.empty((len(rows), len(rows[0])), dtype=object)
    for row, cells in enumerate(rows):
        for column, cell in enumerate(cells):
            table[row, column] = cell
    np.save(path, table, allow_pickle=True)
    return path


def test_plain_values_and_numpy_values_come_back(tmp_path):
    when = datetime(2012, 10, 11, 7, 19, 34)
    rows = [
        [1, "é", ["a", "b"], when, None],
        [
            np.int64(2),
            np.float64(0.5),
            np.array(["x"], dtype=object),
            np.datetime64(when, "ns"),
            np.array([1, 2]),
        ],
        [{"one"}, (3, 4), [], when.replace(tzinfo=UTC), True],
    ]
    assert load_table(saved(tmp_path / "t.npy", rows)) == [
        [1, "é", ["a", "b"], when, None],
        [2, 0.5, ["x"], when, [1, 2]],
        [["one"], [3, 4], [], when.replace(tzinfo=UTC), True],
    ]


def test_a_frame_saved_by_pandas_comes_back(tmp_path):
    pandas = pytest.importorskip("pandas")
    times = pandas.to_datetime(["2012-10-11 07:19:34", "2012-10-12 00:00:00", None])
    for unit in ("s", "ms", "us", "ns"):
        frame = pandas.DataFrame({"n": [1, 2, 3], "t": times.as_unit(unit), "s": list("abc")})
        np.save(tmp_path / "t.npy", frame.to_numpy(), allow_pickle=True)
        assert load_table(tmp_path / "t.npy") == [
            [1, datetime(2012, 10, 11, 7, 19, 34, tzinfo=UTC), "a"],
            [2, datetime(2012, 10, 12, tzinfo=UTC), "b"],
            [3, None, "c"],
        ]


@settings(max_examples=40)
@given(
    st.lists(
        st.lists(
            st.none() | st.integers() | st.text() | st.lists(st.text(max_size=5), max_size=3),
            min_size=3,
            max_size=3,
        ),
        min_size=1,
        max_size=5,
    ),
    st.booleans(),
)
def test_round_trip(tmp_path_factory, rows, by_columns):
    path = tmp_path_factory.mktemp("npy") / "t.npy"
    table = np.load(saved(path, rows), allow_pickle=True)
    np.save(path, np.asfortranarray(table) if by_columns else table, allow_pickle=True)
    assert load_table(path) == rows


def test_a_table_without_objects_needs_no_pickle(tmp_path):
    np.save(tmp_path / "t.npy", np.array([["a", "b"], ["c", "d"]]))
    assert load_table(tmp_path / "t.npy") == [["a", "b"], ["c", "d"]]


class Malicious:
    def __init__(self, call, *arguments):
        self.call, self.arguments = call, arguments

    def __reduce__(self):
        return self.call, self.arguments


@pytest.mark.parametrize(
    ("call", "arguments", "named"),
    [
        (os.system, ("touch {trap}",), r"system"),
        (eval, ("open('{trap}', 'w')",), r"builtins\.eval"),
        (getattr, (os, "system"), r"builtins\.getattr|module"),
        (np.load, ("{trap}",), r"numpy"),
        (open, ("{trap}", "w"), r"open"),
        (pickle.loads, (b"",), r"pickle"),
        (bytearray, (10**9,), r"bytearray"),
    ],
)
def test_a_malicious_pickle_is_refused_and_runs_nothing(tmp_path, call, arguments, named):
    trap = tmp_path / "trap"
    arguments = tuple(a.format(trap=trap) if isinstance(a, str) else a for a in arguments)
    path = tmp_path / "t.npy"
    if call is getattr:  # a module cannot be pickled by us, but a file can say so by hand
        saved(path, [[0]])
        header = path.read_bytes()[:128]
        path.write_bytes(header + b"cbuiltins\ngetattr\n(cos\nsystem\nS'x'\ntR.")
    else:
        saved(path, [[1, Malicious(call, *arguments)]])
    with pytest.raises(UnreadableSource, match=named) as refused:
        load_table(path)
    assert str(path) in str(refused.value)
    assert not trap.exists()


def test_scribbling_on_a_stand_in_does_not_outlive_the_file(tmp_path):
    path = saved(tmp_path / "bad.npy", [[0]])
    state = b"(N(dS'__defaults__'\n(I7\ntstb."
    path.write_bytes(path.read_bytes()[:128] + b"cnumpy\ndtype\n" + state)
    with pytest.raises(UnreadableSource):
        load_table(path)
    assert load_table(saved(tmp_path / "good.npy", [[np.int64(5)]])) == [[5]]


@settings(max_examples=150)
@given(st.data())
def test_damaged_files_are_errors_for_people(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("npy") / "t.npy"
    content = bytearray(saved(path, [[1, "text", ["a"], np.float64(2)]]).read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(bytes(content[: data.draw(st.integers(0, len(content)))]))
    with suppress(UnreadableSource):  # anything else that escapes fails the test
        load_table(path)


@pytest.mark.parametrize(
    "table", [np.array([1, 2]), np.array(5), np.array([None, "a"], dtype=object)]
)
def test_what_is_no_table_is_said_so(tmp_path, table):
    np.save(tmp_path / "t.npy", table, allow_pickle=True)
    with pytest.raises(UnreadableSource, match="two-dimensional"):
        load_table(tmp_path / "t.npy")


def test_a_missing_file(tmp_path):
    with pytest.raises(UnreadableSource, match="No such file"):
        load_table(tmp_path / "none.npy")
