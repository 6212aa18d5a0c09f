"""The choices a caller makes, checked before anything is read, each error with a suggestion.

scikit-learn keeps parameters as they were given; what is given may be NumPy's numbers, a set of
columns, or a mistake.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from numbers import Integral
from typing import Any

from eventide.classifier.parameters import plain_value
from eventide.data.schema import LIST_COLUMNS, SCHEMA
from eventide.errors import BadSetting
from eventide.graphs.views import PAPER_VIEWS, View
from eventide.registry import suggestion

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
