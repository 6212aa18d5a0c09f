"""Which rows could be used, and why the others could not; the base of all profile sections."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from eventide.data import Intake
from eventide.data.intake import remedy


class ProfileSection(BaseModel):
    """A read-only record; ``model_dump(mode="json")`` turns it into plain values."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Reason(ProfileSection):
    """One cause of quarantine, how often it occurred and where first.

    ``column`` is null where the whole row could not be taken apart, ``file`` unless there are
    several.
    """

    column: str | None
    reason: str
    rows: int
    first_row: int
    file: str | None
    example: str


class Rows(ProfileSection):
    """Rows in = rows kept + rows quarantined; ``remedy`` says what helps against the main cause."""

    read: int
    kept: int
    quarantined: int
    reasons: tuple[Reason, ...]
    remedy: str | None


def rows(intake: Intake) -> Rows:
    """Count what was read and what was put aside, most frequent cause first."""
    bad = intake.rejected.height
    return Rows(
        read=intake.rows_in,
        kept=intake.messages.height,
        quarantined=bad,
        reasons=tuple(Reason(**row) for row in intake.reasons().iter_rows(named=True)),
        remedy=remedy(intake.rejected, intake.rows_in) if bad else None,
    )
