"""Run the checks of one method, and say what each found."""

from __future__ import annotations

import time
import traceback
from dataclasses import dataclass
from typing import Any

import polars as pl

from eventide.checks.invariants import CHECKS
from eventide.checks.subject import Subject


@dataclass(frozen=True)
class Finding:
    """What one check found about one method; no complaint means that it passed."""

    method: str
    check: str
    complaints: tuple[str, ...]
    seconds: float

    @property
    def passed(self) -> bool:
        """Whether there is nothing to complain about."""
        return not self.complaints


def check_method(method: str, messages: pl.DataFrame, **parameters: Any) -> list[Finding]:
    """Run every check on ``method``, learning from labelled ``messages`` with a split.

    ``parameters`` are those of `EventClassifier`. Models are fitted once and shared by the checks.
    A check that breaks down counts as a complaint, so that the others still run.
    """
    subject = Subject(method, messages, **parameters)
    findings = []
    for name, check in CHECKS.items():
        started = time.perf_counter()
        try:
            complaints = check(subject)
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            complaints = [f"{type(error).__name__} in {where.name}: {error}"]
        seconds = time.perf_counter() - started
        findings.append(Finding(method, name, tuple(complaints), seconds))
    return findings
