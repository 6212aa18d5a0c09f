"""Labels as the caller gives them, as the model names them, and back in the caller's type.

Inside, an event is a name. Whole numbers and truth values given as labels come back as such; a
missing value, in whatever way it is written, is no label.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eventide.data.columns import Columns, plain_name
from eventide.errors import DamagedBundle, InputError, warn

TEXT = "str"
KIND = re.compile(r"bool|float(?:16|32|64)|u?int(?:8|16|32|64)")
"""What labels come back as, by NumPy's names; everything else is text."""

OTHER_NAMES = {"boolean": "bool", "double": "float64", "float": "float32"}
TURNED_TO_TEXT = ("nan", "<NA>", "NaT")
"""What NumPy and pandas write for a missing value when they turn a column into text."""


@dataclass(frozen=True)
class Labels:
    """One name per message, None where there is no label, and what the names come back as."""

    names: list[str | None]
    kind: str


def labels_of(y: Any) -> Labels:
    """Take labels of any kind; missing ones (None, NaN, NA, NaT, blank) are None.

    >>> labels_of([3, None, 1])
    Labels(names=['3', None, '1'], kind='int64')
    >>> labels_of(np.array(["flood", " "]))
    Labels(names=['flood', None], kind='str')
    """
    values = [None if is_missing(value) else value for value in _values(y)]
    given = [value for value in values if value is not None]
    kind = _kind(given, getattr(y, "dtype", None))
    names = [None if value is None else _name(value) for value in values]
    if kind == TEXT:
        names = _without_traces(names)
    if names and all(name is None for name in names):
        raise InputError(
            f"y holds no label: all {len(names):,} are missing",
            next_step="give the event of some messages; None or NaN leaves a message unlabelled",
        )
    return Labels(names, kind)


def is_missing(value: Any) -> bool:
    """Whether a value stands for "no label".

    >>> [is_missing(value) for value in (None, float("nan"), "", " ", "nan", 0)]
    [True, True, True, True, False, False]
    """
    if value is None or type(value).__name__ == "NAType":
        return True
    if isinstance(value, (str, bytes)):
        return not value.strip()
    return bool(np.ndim(value) == 0 and value != value)  # NaN and NaT differ from themselves


def column_kind(messages: Any, columns: Columns) -> str:
    """Tell what the labels of a frame's event column come back as; a file's are text."""
    types = {plain_name(str(name)): kind for name, kind in _types(messages).items()}
    found = columns.find("event", types)
    if not found:
        return TEXT
    if str(types[found[0]]) == "object":  # pandas' way to mix numbers and missing values
        name = next(name for name in messages.columns if plain_name(str(name)) == found[0])
        return _kind([value for value in messages[name] if not is_missing(value)], None)
    return _named(types[found[0]])


def _types(messages: Any) -> dict[str, Any]:
    """Map the columns of a frame or table to their types; anything else has none."""
    maker = type(messages).__module__.partition(".")[0]
    if maker == "polars" and hasattr(messages, "collect_schema"):
        return dict(messages.collect_schema())
    if maker == "pandas" and hasattr(messages, "dtypes") and hasattr(messages, "columns"):
        return dict(zip(messages.columns, messages.dtypes, strict=True))
    if maker == "pyarrow" and hasattr(messages, "schema"):
        return dict(zip(messages.schema.names, messages.schema.types, strict=True))
    return {}


def settled_kind(kind: str, names: Iterable[str]) -> str:
    """Return the kind if every class can come back as it; fractions in a column stay text."""
    if kind in (TEXT, "bool"):
        return kind
    return kind if all(re.fullmatch(r"-?\d+", name) for name in names) else TEXT


def sort_key(kind: str) -> Any:
    """How classes are ordered: numbers by size, names by their letters."""
    return str if kind in (TEXT, "bool") else int


def as_given(names: Sequence[str], kind: str) -> NDArray[Any]:
    """Turn names into what the caller gave.

    >>> as_given(["1", "20"], "int32"), as_given(["false", "true"], "bool").tolist()
    (array([ 1, 20], dtype=int32), [False, True])
    """
    if kind == TEXT:
        return np.array(list(names), dtype=np.str_)
    if kind == "bool":
        return np.array([name == "true" for name in names])
    try:
        return np.array([int(name) for name in names], dtype=_named(kind))
    except (TypeError, ValueError, OverflowError):
        raise DamagedBundle(
            f"the classes cannot be read as {kind!r}",
            where="classes and label_kind of the model",
            next_step="copy the model again from its origin, or train again",
        ) from None


def class_names(classes: NDArray[Any]) -> NDArray[np.str_]:
    """Turn what the caller gave into names again.

    >>> class_names(np.array([True, False])).tolist()
    ['true', 'false']
    """
    return np.array([_name(value) for value in classes.tolist()], dtype=np.str_)


def label_kind(classes: NDArray[Any]) -> str:
    """Tell what classes come back as, for the manifest of a saved model.

    >>> label_kind(np.array(["a"])), label_kind(np.array([1], dtype=np.int32))
    ('str', 'int32')
    """
    return _named(classes.dtype)


def _values(y: Any) -> list[Any]:
    if hasattr(y, "__array__") and not isinstance(y, Iterable):
        y = np.asarray(y)
    if isinstance(y, (str, bytes, Mapping, set, frozenset)) or not isinstance(y, Iterable):
        raise InputError(
            f"y must hold one label per message, not be a {type(y).__name__}",
            next_step='give a list, or name the column of the messages: columns={"event": NAME}',
        )
    shape = getattr(y, "shape", None)
    if isinstance(shape, tuple) and len(shape) != 1:
        if len(shape) != 2 or shape[1] != 1:
            raise InputError(
                f"y must hold one label per message, but has the shape {shape}",
                next_step="give one column of labels",
            )
        from sklearn.utils.validation import column_or_1d

        y = column_or_1d(np.asarray(y), warn=True)
    for method in ("to_pylist", "to_list", "tolist"):  # Arrow, frames, arrays
        if hasattr(y, method):
            return list(getattr(y, method)())
    return list(y)


def _kind(values: Sequence[Any], dtype: Any) -> str:
    named = _named(dtype)
    if named == TEXT:
        if not values:
            return TEXT
        if all(isinstance(value, (bool, np.bool_)) for value in values):
            return "bool"
        if not all(isinstance(value, Real) and not isinstance(value, bool) for value in values):
            return TEXT
        whole = all(isinstance(value, Integral) for value in values)
        named = "int64" if whole else "float64"
        if whole and not all(-(2**63) <= int(value) < 2**63 for value in values):
            return TEXT
    if named.startswith("float"):
        odd = next((value for value in values if not float(value).is_integer()), None)
        if odd is not None:
            raise InputError(
                f"Unknown label type: continuous. y holds {odd!r}, a measurement and no event",
                next_step="give whole numbers or names; turn names such as '1.5' into text",
            )
    return named


def _named(dtype: Any) -> str:
    """Give NumPy's name of the type of a column of pandas, polars, Arrow or NumPy."""
    name = str(dtype).lower().removesuffix("[pyarrow]")
    name = OTHER_NAMES.get(name, name)
    return name if KIND.fullmatch(name) else TEXT


def _name(value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return str(value).lower()  # as reading a column gives it
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, (list, tuple, dict, set, np.ndarray)):
        raise InputError(
            f"y must hold one label per message, found {value!r}",
            next_step="give one label for each message",
        )
    if isinstance(value, Real) and not isinstance(value, Integral) and float(value).is_integer():
        return str(int(float(value)))
    return str(value)


def _without_traces(names: list[str | None]) -> list[str | None]:
    """Take out what a missing value leaves when a column is turned into text, and say so."""
    traces = [name for name in names if name in TURNED_TO_TEXT]
    if not traces:
        return names
    shown = ", ".join(repr(name) for name in dict.fromkeys(traces))
    warn(
        f"{len(traces):,} labels in y are the text {shown}, which is what a missing value becomes "
        "as text: these messages count as unlabelled"
    )
    return [None if name in TURNED_TO_TEXT else name for name in names]
