"""The data profile that ``eventide check`` shows before training; ``page`` formats it as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from eventide.data import Intake
from eventide.data.schema import read_part
from eventide.features.elements import with_elements
from eventide.reports.profile.advice import ProfileWarning, next_step, warnings
from eventide.reports.profile.connections import ViewProfile, ViewQuality, quality, views
from eventide.reports.profile.languages import Languages, languages
from eventide.reports.profile.sections import (
    Classes,
    Estimate,
    ProfileSection,
    Repeats,
    Rows,
    SplitCounts,
    Times,
    classes,
    estimate,
    repeats,
    rows,
    split_counts,
    times,
)

__all__ = ["DataProfile", "data_profile"]


class DataProfile(ProfileSection):
    """The profile of one source of messages; the docstring of each section explains its values."""

    source: str
    sources: tuple[str, ...]
    columns: dict[str, str]
    options: tuple[str, ...]
    notes: tuple[str, ...]
    rows: Rows
    classes: Classes
    splits: SplitCounts
    times: Times
    languages: Languages
    views: tuple[ViewProfile, ...]
    quality: tuple[ViewQuality, ...]
    repeats: Repeats
    estimate: Estimate
    warnings: tuple[ProfileWarning, ...] = ()
    next_step: str = ""


def data_profile(
    intake: Intake,
    *,
    source: str | Sequence[str] | None = None,
    columns: Mapping[str, str] | None = None,
    options: Sequence[str] = (),
) -> DataProfile:
    """Build the data profile of messages that were read.

    ``source`` and ``columns`` are the user's names of the source and its columns, ``options`` the
    other options of reading (``--day-first``). The command suggested at the end repeats them.
    """
    messages = intake.messages
    elements = with_elements(messages)
    named = source if source is not None else intake.where
    sources = (named,) if isinstance(named, str) else tuple(named)
    name = sources[0] if len(sources) == 1 else intake.where
    measured = DataProfile(
        source=name,
        sources=sources,
        columns=dict(columns or {}),
        options=tuple(options),
        notes=intake.notes,
        rows=rows(intake),
        classes=classes(messages),
        splits=split_counts(messages),
        times=times(messages),
        languages=languages(read_part(messages["text"])),
        views=views(elements),
        quality=quality(elements, name),
        repeats=repeats(messages),
        estimate=estimate(messages.height),
    )
    advice = {"warnings": warnings(measured), "next_step": next_step(measured)}
    return measured.model_copy(update=advice)
