"""Facts about messages before anybody trains on them; ``page`` lays them out for reading."""

from __future__ import annotations

from collections.abc import Mapping

from eventide.data import Intake
from eventide.features.elements import with_elements
from eventide.reports.facts.advice import Warned, next_step, warnings
from eventide.reports.facts.classes import Classes, Sides, classes, sides
from eventide.reports.facts.fact import Fact
from eventide.reports.facts.languages import Languages, languages
from eventide.reports.facts.quality import ViewQuality, quality
from eventide.reports.facts.repeats import Repeats, repeats
from eventide.reports.facts.rows import Rows, rows
from eventide.reports.facts.times import Times, times
from eventide.reports.facts.views import ViewFacts, views

__all__ = ["Facts", "facts"]


class Facts(Fact):
    """All facts about one source of messages; each section says what its numbers mean."""

    source: str
    columns: dict[str, str]
    rows: Rows
    classes: Classes
    sides: Sides
    times: Times
    languages: Languages
    views: tuple[ViewFacts, ...]
    quality: tuple[ViewQuality, ...]
    repeats: Repeats
    warnings: tuple[Warned, ...] = ()
    next_step: str = ""


def facts(
    intake: Intake, *, source: str | None = None, columns: Mapping[str, str] | None = None
) -> Facts:
    """Measure what was read; ``source`` and ``columns`` are what the user called things."""
    messages = intake.messages
    elements = with_elements(messages)
    source = source or intake.where
    measured = Facts(
        source=source,
        columns=dict(columns or {}),
        rows=rows(intake),
        classes=classes(messages),
        sides=sides(messages),
        times=times(messages),
        languages=languages(messages["text"]),
        views=views(elements),
        quality=quality(elements, source),
        repeats=repeats(messages),
    )
    advice = {"warnings": warnings(measured), "next_step": next_step(measured)}
    return measured.model_copy(update=advice)
