"""The classifier's parameters: checked before anything is read, as plain values."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from numbers import Integral
from pathlib import PurePath
from typing import Any

import numpy as np

from eventide.data.schema import LIST_COLUMNS, SCHEMA
from eventide.errors import BadSetting
from eventide.graphs.views import PAPER_VIEWS, View
from eventide.registry import suggestion


def plain_parameters(parameters: Mapping[str, Any], *, but: Collection[str] = ()) -> dict[str, Any]:
    """Return parameters as plain values, all ``but`` those named."""
    return {name: plain_value(value, name) for name, value in parameters.items() if name not in but}


def plain_value(value: Any, name: str) -> Any:
    """Turn numpy's numbers, sets, tuples and paths into what JSON knows; refuse anything else.

    >>> plain_value(np.int64(2), "epochs"), plain_value({"urls", "hashtags"}, "views")
    (2, ['hashtags', 'urls'])
    >>> plain_value(print, "epochs")
    Traceback (most recent call last):
    eventide.errors.BadSetting: epochs cannot be a builtin_function_or_method: <built-in ...>
      next:  give a number, a string, or lists and dictionaries of these
    """
    match value:
        case np.generic() | np.ndarray():
            return plain_value(value.tolist(), name)
        case None | bool() | int():
            return value
        case float() if math.isfinite(value):
            return value
        case str() | PurePath():
            return str(value)
        case Mapping():
            return {str(key): plain_value(each, f"{name}.{key}") for key, each in value.items()}
        case set() | frozenset():  # in no order of its own
            return sorted((plain_value(each, name) for each in value), key=str)
        case Sequence():
            return [plain_value(each, name) for each in value]
    raise BadSetting(
        f"{name} cannot be a {type(value).__name__}: {value!r}",
        next_step="give a number, a string, or lists and dictionaries of these",
    )


PROTOCOLS = ("transductive", "inductive")
LARGEST_SEED = 2**63 - 1


def whole_seed(seed: object) -> int:
    """Return the seed as an int, or say which are allowed.

    >>> import numpy as np
    >>> whole_seed(np.int64(3))
    3
    >>> whole_seed(None)
    Traceback (most recent call last):
    eventide.errors.BadSetting: the seed cannot be None
      next:  give a whole number from 0 to 9223372036854775807; 0 is the default
    """
    whole = isinstance(seed, Integral) and not isinstance(seed, bool)
    if not whole or not 0 <= int(seed) <= LARGEST_SEED:  # type: ignore[call-overload]
        raise BadSetting(
            f"the seed cannot be {seed!r}",
            next_step=f"give a whole number from 0 to {LARGEST_SEED}; 0 is the default",
        )
    return int(seed)  # type: ignore[call-overload, no-any-return]


def check_name(what: str, name: object) -> None:
    """Refuse what is no name at all; whether there is such a thing is found where it is loaded."""
    if not isinstance(name, str):
        raise BadSetting(f"the {what} cannot be {name!r}", next_step="give its name")


def check_protocol(protocol: object) -> None:
    """Refuse a protocol that there is not."""
    if not isinstance(protocol, str) or protocol not in PROTOCOLS:
        raise BadSetting(
            f"there is no protocol {protocol!r}", next_step=suggestion(protocol, PROTOCOLS)
        )


def check_columns(columns: object) -> None:
    """Refuse a mapping of columns that is none."""
    if columns is None or (
        isinstance(columns, Mapping)
        and all(isinstance(name, str) for pair in columns.items() for name in pair)
    ):
        return
    raise BadSetting(
        f"columns cannot be {columns!r}",
        next_step='map our names to yours: columns={"created_at": "time"}',
    )


def checked_views(views: Any) -> tuple[View, ...]:
    """Return the views; one column may be given by its name alone.

    >>> checked_views({"tags": "hashtags"})
    (View(name='tags', columns=('hashtags',)),)
    """
    if views is None:
        return PAPER_VIEWS
    if not isinstance(views, Mapping) or not views:
        raise BadSetting(
            f"views cannot be {views!r}",
            next_step='name each view and its columns: views={"tags": ["hashtags", "urls"]}',
        )
    return tuple(View(_view_name(name), _view_columns(name, each)) for name, each in views.items())


def _view_name(name: object) -> str:
    if not isinstance(name, str) or not name.strip():
        raise BadSetting(f"a view cannot be called {name!r}", next_step="give it a name")
    return name


def _view_columns(name: str, columns: Any) -> tuple[str, ...]:
    listed = [columns] if isinstance(columns, str) else plain_value(columns, f"views.{name}")
    if not isinstance(listed, Collection) or isinstance(listed, (bytes, Mapping)) or not listed:
        raise _bad_view(name, f"reads {columns!r}, which is no list of columns")
    if not all(isinstance(column, str) and column.strip() for column in listed):
        raise _bad_view(name, f"reads {columns!r}, which is no list of names")
    found = tuple(dict.fromkeys(listed))
    for column in found:
        if column in SCHEMA and column not in (*LIST_COLUMNS, "user"):
            told = "the labels, which are to be learned" if column == "event" else "no elements"
            raise _bad_view(name, f"reads the column {column!r}, which holds {told}")
    return found


def _bad_view(name: str, what: str) -> BadSetting:
    allowed = ", ".join((*LIST_COLUMNS, "user"))
    return BadSetting(
        f"the view {name!r} {what}",
        next_step=f"name columns of lists: {allowed}, or others of your own",
    )
