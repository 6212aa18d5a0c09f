"""Parameters as plain values, such as a manifest can hold: checked before training, not after."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from pathlib import PurePath
from typing import Any

import numpy as np

from eventide.errors import BadSetting


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
