"""The classifier's parameters: checked before anything is read, as plain values."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import copy
from numbers import Integral
from pathlib import PurePath
from typing import Any, Self

import numpy as np

from eventide.data.schema import LIST_COLUMNS, SCHEMA
from eventide.errors import BadSetting
from eventide.features.elements import check_entities
from eventide.features.encoders import DEFAULT_ENCODER, Encoder, Function, encoder, encoder_name
from eventide.graphs.views import PAPER_VIEWS, View
from eventide.methods import DEFAULT_METHOD
from eventide.methods.tuned import method_settings
from eventide.registry import suggestion
from eventide.settings import Settings


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


class ClassifierParameters:
    """What a classifier is given: its parameters, as scikit-learn reads and changes them."""

    def __init__(
        self,
        method: str = DEFAULT_METHOD,
        encoder: str | Encoder | Function = DEFAULT_ENCODER,
        views: Mapping[str, str | Iterable[str]] | None = None,
        preset: str = "default",
        protocol: str = "transductive",
        entities: str = "rules",
        columns: Mapping[str, str] | None = None,
        seed: int = 0,
        **overrides: Any,
    ) -> None:
        self.method = method
        self.encoder = encoder
        self.views = views
        self.preset = preset
        self.protocol = protocol
        self.entities = entities
        self.columns = columns
        self.seed = seed
        self._overrides = dict(overrides)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return every parameter as it was given, the changed settings among them."""
        own = {name: getattr(self, name) for name in self._parameter_names()}
        return own | self._overrides

    def plain_params(self) -> dict[str, Any]:
        """Return every parameter in plain Python, as a saved model keeps it."""
        return plain_parameters(self.get_params() | {"encoder": encoder_name(self.encoder)})

    def set_params(self, **parameters: Any) -> Self:
        """Change parameters; if one of them cannot be used, none is changed."""
        trial = copy(self)
        trial._take(parameters)
        trial.settings()
        self._take(parameters)
        return self

    def _take(self, parameters: Mapping[str, Any]) -> None:
        own = self._parameter_names()
        for name in parameters.keys() & set(own):
            setattr(self, name, parameters[name])
        others = {name: value for name, value in parameters.items() if name not in own}
        self._overrides = self._overrides | others

    @classmethod
    def _parameter_names(cls) -> list[str]:
        return [
            "method", "encoder", "views", "preset", "protocol", "entities", "columns", "seed",
        ]  # fmt: skip

    def settings(self) -> Settings:
        """Return the settings of this run: the paper's, the preset's, the method's, yours.

        Every other parameter is checked on the way, so that a mistake is found before reading.
        """
        check_name("method", self.method)
        check_name("preset", self.preset)
        check_protocol(self.protocol)
        check_entities(self.entities)
        check_columns(self.columns)
        checked_views(self.views)
        whole_seed(self.seed)
        encoder(self.encoder)
        for name in self._overrides:
            if "__" not in name:
                raise BadSetting(
                    f"there is no parameter {name!r}",
                    next_step=suggestion(name, [*self._parameter_names(), "training__epochs"])
                    + " and every other setting, see: eventide methods --settings",
                )
        given = plain_parameters(self._overrides)
        changes = {name.replace("__", "."): value for name, value in given.items()}
        return method_settings(self.method, self.preset, changes)
