"""A restricted loader for ``.npy`` files that hold pickled objects, as the KPGNN files do.

A pickle can name any function and have it called. Here every name is looked up in a short table of
harmless stand-ins; not even numpy's constructors are called with content of the file. A name that
is not in the table is an error.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy_format

from eventide.errors import UnreadableSource

_UNITS = {7: 1_000_000, 8: 1_000, 9: 1}  # microseconds in pandas' s, ms, us; ns is below one


def load_table(path: Path) -> list[list[Any]]:
    """Read a two-dimensional ``.npy`` array as rows of plain Python values.

    Numbers, strings, lists and times come back as themselves; pandas' Timestamps as datetimes.
    """
    try:
        with path.open("rb") as stream:
            table = _read(stream, path)
    except UnreadableSource:
        raise
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from None
    except Exception as error:
        # Any error here is caused by a damaged or hostile file.
        raise _unreadable(path, f"{type(error).__name__}: {error}") from None
    if not isinstance(table, list) or not all(isinstance(row, list) for row in table):
        raise _unreadable(path, "not a two-dimensional table")
    return table


def _read(stream: BinaryIO, path: Path) -> Any:
    version = npy_format.read_magic(stream)
    if version == (1, 0):
        _, _, kind = npy_format.read_array_header_1_0(stream)
    elif version == (2, 0):
        _, _, kind = npy_format.read_array_header_2_0(stream)
    else:
        raise _unreadable(path, f"unknown .npy version {version[0]}.{version[1]}")
    if not kind.hasobject:
        stream.seek(0)
        return np.load(stream, allow_pickle=False).tolist()
    return plain(RestrictedUnpickler(stream, path).load())


class RestrictedUnpickler(pickle.Unpickler):
    """An unpickler that reads arrays, numbers and times, and refuses every other name."""

    def __init__(self, stream: BinaryIO, path: Path) -> None:
        super().__init__(stream)
        self._path = path
        self._known = _stand_ins()

    def find_class(self, module: str, name: str) -> Callable[..., Any]:
        """Return our stand-in for a name, or refuse it."""
        # numpy 2 renamed its inner package; both names mean the same.
        stand_in = self._known.get((module.replace("numpy._core", "numpy.core"), name))
        if stand_in is None:
            raise UnreadableSource(
                f"the pickle inside asks for {module}.{name}, which a table of messages does not "
                "need; it was refused and nothing was run",
                where=str(self._path),
                next_step="do not trust this file; get it from its origin, or have its owner "
                "export the table to Parquet, CSV or JSONL",
            )
        return stand_in

    def persistent_load(self, pid: Any) -> Any:
        """Refuse references to things outside the file."""
        raise _unreadable(self._path, "the pickle refers to objects outside the file")


class _Kind:
    """Stands in for ``numpy.dtype``: remembers the code and, for times, the unit."""

    def __init__(self, code: str) -> None:
        self.code, self.order, self.unit = code, "=", ""

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.order = state[1]
        if len(state) > 8 and self.code[:2] in ("M8", "m8"):
            unit, step = state[8][1][:2]
            self.unit = f"[{step}{unit.decode('ascii')}]"

    def numpy(self) -> np.dtype[Any]:
        """Give the numpy type; structures and pointers are not among them."""
        order = self.order if self.order in "<>" else ""
        kind = np.dtype(f"{order}{self.code}{self.unit}")
        if kind.hasobject or kind.names or kind.subdtype:
            raise ValueError(f"unexpected type {self.code}")
        return kind


class _Array:
    """Stands in for ``numpy.ndarray``: keeps shape, type and content."""

    state: tuple[Any, ...] = ()

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.state = state

    def values(self) -> Any:
        """Give the content as nested lists."""
        _, shape, kind, by_columns, content = self.state
        if not isinstance(content, list):
            array = _values(kind, content)
            return array.reshape(shape, order="F" if by_columns else "C").tolist()
        # Objects are listed by rows even if the array is stored by columns.
        cells = np.empty(len(content), dtype=object)
        for index, cell in enumerate(content):
            cells[index] = plain(cell)
        return cells.reshape(shape).tolist()


def plain(value: Any) -> Any:
    """Turn stand-ins into plain values; lists are searched one level deep."""
    if isinstance(value, _Array):
        return value.values()
    if isinstance(value, list | tuple | set | frozenset):
        return [cell.values() if isinstance(cell, _Array) else cell for cell in value]
    return value


def _scalar(kind: _Kind, content: bytes) -> Any:
    return _values(kind, content)[0].item()


def _values(kind: _Kind, content: bytes) -> np.ndarray[Any, Any]:
    values = np.frombuffer(content, dtype=kind.numpy())
    # Python's times end at microseconds; numpy would return an integer for finer units.
    return values.astype("datetime64[us]") if kind.code == "M8" else values


def _timestamp(value: int, _freq: Any = None, zone: tzinfo | None = None, unit: int = 10) -> Any:
    if value == np.iinfo(np.int64).min:
        return None
    microseconds = value * _UNITS[unit] if unit in _UNITS else value // 1000
    # pandas stores UTC; the zone is only for display, so UTC is kept.
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=microseconds)


def _unreadable(path: Path, reason: str) -> UnreadableSource:
    return UnreadableSource(
        f"not a readable .npy table ({reason})",
        where=str(path),
        next_step="get the file again, or export the table to Parquet, CSV or JSONL",
    )


def _stand_ins() -> dict[tuple[str, str], Callable[..., Any]]:
    """Build the table of names for one file: a pickle may modify the objects it is given."""
    return {
        ("numpy.core.multiarray", "_reconstruct"): lambda *_: _Array(),
        ("numpy.core.multiarray", "scalar"): lambda kind, content: _scalar(kind, content),
        ("numpy", "ndarray"): lambda *_: _Array(),
        ("numpy", "dtype"): lambda code, *_: _Kind(code),
        ("builtins", "set"): set,
        ("builtins", "frozenset"): frozenset,
        ("datetime", "datetime"): datetime,
        ("datetime", "date"): date,
        ("datetime", "timedelta"): timedelta,
        ("datetime", "timezone"): timezone,
        ("pytz", "_UTC"): lambda: UTC,
        ("pandas._libs.tslibs.timestamps", "_unpickle_timestamp"): lambda *it: _timestamp(*it),
        ("pandas._libs.tslibs.timestamps", "Timestamp"): lambda *it: _timestamp(*it),
        ("pandas._libs.tslibs.nattype", "_nat_unpickle"): lambda *_: None,
    }
