"""Views: the columns that connect messages, and the incidence of each view."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from eventide.errors import InputError, MissingColumn
from eventide.graphs.incidence import Incidence
from eventide.graphs.keys import element_keys
from eventide.runtime.threads import FEW


@dataclass(frozen=True)
class View:
    """A named set of columns: two messages are neighbours if they share an element of them.

    Columns hold lists of strings or single strings (such as the author). Equal strings of different
    columns are different elements.

    >>> View("place", ("places", "regions")).name
    'place'
    """

    name: str
    columns: tuple[str, ...]


HASHTAG = View("hashtag", ("hashtags", "urls"))
ENTITY = View("entity", ("entities",))
USER = View("user", ("mentions",))
PAPER_VIEWS = (HASHTAG, ENTITY, USER)


def union(views: Sequence[View], name: str = "all") -> View:
    """The view whose edges are those of all ``views``.

    >>> union(PAPER_VIEWS).columns
    ('hashtags', 'urls', 'entities', 'mentions')
    """
    return View(name, tuple(dict.fromkeys(column for view in views for column in view.columns)))


def incidence(messages: pl.DataFrame, view: View, salt: bytes = b"") -> Incidence:
    """Collect the elements of every message in one view; null and empty strings are no elements.

    >>> frame = pl.DataFrame({"hashtags": [["flood"], ["flood", "fire"]], "urls": [["flood"], []]})
    >>> incidence(frame, HASHTAG).degrees.tolist()
    [2, 2]
    """
    if len(messages) <= FEW:
        return _small_batch(messages, view, salt)
    found = [_column(messages, column, view) for column in view.columns]
    keys, rows, elements, known = [], [], [], 0
    for column, pairs in zip(view.columns, found, strict=True):
        names = pairs.get_column("element").unique(maintain_order=True)
        table = pl.DataFrame({"element": names, "index": np.arange(len(names)) + known})
        joined = pairs.join(table, on="element", how="left", maintain_order="left")
        keys.append(element_keys(column, names.to_list(), salt))
        rows.append(pairs.get_column("row").to_numpy())
        elements.append(joined.get_column("index").to_numpy())
        known += len(names)
    return Incidence.build(
        np.concatenate(rows).astype(np.int64),
        np.concatenate(elements).astype(np.int64),
        len(messages),
        np.concatenate(keys),
    )


def _small_batch(messages: pl.DataFrame, view: View, salt: bytes) -> Incidence:
    """The same in plain Python, which is faster than joins for a few messages."""
    keys, rows, elements, known = [], [], [], 0
    for column in view.columns:
        cells = _strings(messages, column, view).to_list()
        lists = [[cell] if isinstance(cell, str) else cell or () for cell in cells]
        pairs = [(row, name) for row, names in enumerate(lists) for name in names if name]
        indices = {name: known + at for at, name in enumerate(dict.fromkeys(n for _, n in pairs))}
        keys.append(element_keys(column, indices, salt))
        rows += [row for row, _ in pairs]
        elements += [indices[name] for _, name in pairs]
        known += len(indices)
    return Incidence.build(
        np.array(rows, dtype=np.int64),
        np.array(elements, dtype=np.int64),
        len(messages),
        np.concatenate(keys),
    )


def _column(messages: pl.DataFrame, column: str, view: View) -> pl.DataFrame:
    """(row, element) pairs of one column, lists flattened."""
    pairs = _strings(messages, column, view).alias("element").to_frame()
    pairs = pairs.select(pl.int_range(pl.len(), dtype=pl.Int64).alias("row"), "element")
    if isinstance(pairs.schema["element"], pl.List):
        pairs = pairs.explode("element")
    pairs = pairs.with_columns(pl.col("element").cast(pl.String))
    return pairs.filter(pl.col("element").is_not_null() & (pl.col("element") != ""))


def _strings(messages: pl.DataFrame, column: str, view: View) -> pl.Series:
    """The column, if it is there and holds strings or lists of strings."""
    if column not in messages.columns:
        raise MissingColumn(
            f"view {view.name!r} needs the column {column!r}",
            where=f"columns found: {', '.join(messages.columns)}",
            next_step="Name an existing list column in the view, or add this one",
        )
    whole = messages.schema[column]
    kind: object = whole.inner if isinstance(whole, pl.List) else whole
    if kind not in (pl.String, pl.Null):
        raise InputError(
            f"column {column!r} holds {whole}, not strings or lists of strings",
            where=f"view {view.name!r}",
            next_step="Cast the column to strings, or choose another column",
        )
    return messages.get_column(column)
