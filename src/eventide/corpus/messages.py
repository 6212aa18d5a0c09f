"""Messages that are ready to be featurised: read, validated and filled with elements, once."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import polars as pl

from eventide.data import Intake, read
from eventide.errors import InputError, RejectedRows, warn
from eventide.features.elements import with_elements

logger = logging.getLogger("eventide")


@dataclass(frozen=True)
class Messages(Intake):
    """What reading gave, with the elements of every message filled in; ``entities`` says how.

    >>> intake = read(["flood in #Calgary"])
    >>> messages = Messages.of(intake, entities="rules")
    >>> messages.messages["hashtags"].to_list()
    [['calgary']]
    >>> Messages.of(messages, entities="rules") is messages
    True
    """

    entities: str = ""

    @classmethod
    def of(cls, intake: Intake, *, entities: str) -> Messages:
        """Fill in the elements; messages that have them already are returned as they are."""
        if not isinstance(intake, cls):
            given = {each.name: getattr(intake, each.name) for each in fields(Intake)}
            filled = with_elements(intake.messages, entities=entities)
            return cls(**given | {"messages": filled}, entities=entities)
        if intake.entities != entities:
            raise InputError(
                f"these messages have entities by {intake.entities!r}, and {entities!r} is wanted",
                where=intake.where,
                next_step="give the messages as they were read: eventide.read(...)",
            )
        return intake


def read_messages(
    source: Any,
    *,
    entities: str,
    events: Sequence[str | None] | None = None,
    columns: Mapping[str, str] | None = None,
    remembered: Mapping[str, str] | None = None,
    lists: Sequence[str] = (),
    need_lists: bool = True,
    strict: bool = False,
    allow_rejected: bool = False,
) -> Messages:
    """Read any kind of source and fill in the elements; what was read before is not read again.

    ``events`` replace the column ``event``. Rows of a source that cannot be used are told by a
    warning, or by an error where each row must have an answer (``strict``), has a label in
    ``events``, or is one of too many (unless ``allow_rejected``). Whoever gives an `Intake` has
    been told. The other parameters are those of `eventide.data.read`.
    """
    if isinstance(source, Intake):
        intake = source
        intake.check_rejected(allow=True)
    else:
        intake = read(
            source, columns=columns, remembered=remembered, lists=lists, need_lists=need_lists
        )
        _tell_rejected(intake, events is not None, strict, allow_rejected)
        for note in intake.notes:
            logger.info("%s", note)
    if events is not None:
        if len(events) != len(intake.messages):
            raise InputError(
                f"y has {len(events):,} labels for {len(intake.messages):,} messages",
                where=intake.where,
                next_step="give one label per message; None leaves a message unlabelled",
            )
        labels = pl.Series("event", events, dtype=pl.String)
        intake = replace(intake, messages=intake.messages.with_columns(labels))
    return Messages.of(intake, entities=entities)


def _tell_rejected(intake: Intake, labels: bool, strict: bool, allow: bool) -> None:
    if not len(intake.rejected):
        return
    first = ", ".join(str(row) for row in intake.rejected["row"].head(10))
    if labels or strict:
        with_what = "its label in y" if labels else "its answer or weight"
        raise RejectedRows(
            f"{len(intake.rejected):,} of {intake.rows_in:,} rows cannot be used, so no row "
            f"can be matched with {with_what}: {intake.summary()}",
            where=f"{intake.where}, rows {first}",
            next_step="mend or drop these rows (and their labels); or set them aside first: "
            "intake = eventide.read(messages), and give the intake; "
            "intake.rejected shows the rows",
        )
    intake.check_rejected(allow=allow)
    warn(f"{intake.summary()}\n  these rows were set aside; see rejected_")
