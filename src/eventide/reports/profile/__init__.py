"""DataProfile about messages before anybody trains on them; ``page`` lays them out for reading."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from eventide.data import Intake
from eventide.data.schema import read_part
from eventide.features.elements import with_elements
from eventide.reports.profile.advice import Warned, next_step, warnings
from eventide.reports.profile.connections import ViewProfile, ViewQuality, quality, views
from eventide.reports.profile.languages import Languages, languages
from eventide.reports.profile.sections import (
    Classes,
    Estimate,
    ProfileSection,
    Repeats,
    Rows,
    Sides,
    Times,
    classes,
    estimate,
    repeats,
    rows,
    sides,
    times,
)

__all__ = ["DataProfile", "facts"]


class DataProfile(ProfileSection):
    """All facts about one source of messages; each section says what its numbers mean."""

    source: str
    sources: tuple[str, ...]
    columns: dict[str, str]
    options: tuple[str, ...]
    notes: tuple[str, ...]
    rows: Rows
    classes: Classes
    sides: Sides
    times: Times
    languages: Languages
    views: tuple[ViewProfile, ...]
    quality: tuple[ViewQuality, ...]
    repeats: Repeats
    estimate: Estimate
    warnings: tuple[Warned, ...] = ()
    next_step: str = ""


def facts(
    intake: Intake,
    *,
    source: str | Sequence[str] | None = None,
    columns: Mapping[str, str] | None = None,
    options: Sequence[str] = (),
) -> DataProfile:
    """Measure what was read.

    ``source`` and ``columns`` are what the user called things, ``options`` how else it was read
    (``--day-first``): the command that is said next repeats them.
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
        sides=sides(messages),
        times=times(messages),
        languages=languages(read_part(messages["text"])),
        views=views(elements),
        quality=quality(elements, name),
        repeats=repeats(messages),
        estimate=estimate(messages.height),
    )
    advice = {"warnings": warnings(measured), "next_step": next_step(measured)}
    return measured.model_copy(update=advice)
