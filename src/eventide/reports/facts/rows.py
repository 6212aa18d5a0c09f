"""Which rows could be used, and why the others could not."""

from __future__ import annotations

import polars as pl

from eventide.data import Intake
from eventide.reports.facts.fact import Fact


class Reason(Fact):
    """One cause of quarantine, how often it occurred and where first."""

    column: str
    reason: str
    rows: int
    first_row: int
    example: str


class Rows(Fact):
    """Rows in = rows kept + rows quarantined."""

    read: int
    kept: int
    quarantined: int
    reasons: tuple[Reason, ...]


def rows(intake: Intake) -> Rows:
    """Count what was read and what was put aside, most frequent cause first."""
    examples = intake.rejected.select(first_row="row", example=pl.col("value").fill_null(""))
    causes = intake.reasons().join(examples, on="first_row", how="left", maintain_order="left")
    return Rows(
        read=intake.rows_in,
        kept=intake.messages.height,
        quarantined=intake.rejected.height,
        reasons=tuple(Reason(**row) for row in causes.iter_rows(named=True)),
    )
