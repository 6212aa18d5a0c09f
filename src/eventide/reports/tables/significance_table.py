"""Differences of accuracy from a reference, and whether they are significant."""

from __future__ import annotations

from collections.abc import Sequence

from eventide.errors import BadSetting
from eventide.experiments.results import Results
from eventide.methods import DEFAULT_METHOD
from eventide.registry import suggestion
from eventide.reports.tables.comparison_tables import NAME, titled
from eventide.reports.tables.table import Cell, Column, Figure, Table
from eventide.scoring.significance import ENOUGH_RUNS, CorrectedTTest

REFERENCES = (DEFAULT_METHOD, "ucl-ec+cb", "ucl-ec", "ucl+cb", "ucl")
"""Reference method for the significance tests: the first of these that is compared."""
FEWEST_RUNS = 5
"""Below this, runs that differ alike by chance would pass for significant."""
SMALLEST_P = 0.001
COLUMNS = (
    NAME,
    Column("difference", "ACC difference", scale=100, signed=True),
    Column("low", "from", scale=100, signed=True),
    Column("high", "to", scale=100, signed=True),
    Column("p_messages", "p (messages)", digits=3, least=SMALLEST_P),
    Column("p_runs", "p (runs)", digits=3, least=SMALLEST_P),
    Column("messages", "messages"),
    Column("runs", "runs"),
)


def chosen_reference(names: Sequence[str], asked: str | None = None) -> str:
    """Return the reference method for the significance tests: the one asked for, or the default.

    >>> chosen_reference(["ce", "ucl-ec", "ucl"]), chosen_reference(["ce", "bcl"])
    ('ucl-ec', 'ce')
    >>> chosen_reference(["ce", "ucl-ec"], "ucl-ek")
    Traceback (most recent call last):
    eventide.errors.BadSetting: the reference 'ucl-ek' is not among the compared methods
      next:  did you mean 'ucl-ec'? Known: ce, ucl-ec
    """
    if asked is None:
        return next((name for name in REFERENCES if name in names), names[0])
    if asked not in names:
        raise BadSetting(
            f"the reference {asked!r} is not among the compared methods",
            next_step=suggestion(asked, names),
        )
    return asked


def p_of_runs(found: CorrectedTTest) -> float | None:
    """Return the p-value over runs; None where they are too few or all differ by the same amount.

    >>> p_of_runs(CorrectedTTest(0.1, None, 0.0, 10)), p_of_runs(CorrectedTTest(0.1, 90, 1e-4, 2))
    (None, None)
    """
    says_nothing = found.statistic is None and found.difference != 0
    return None if found.runs < FEWEST_RUNS or says_nothing else found.p_value


def significance(results: Results, names: Sequence[str], reference: str | None = None) -> Table:
    """Compare every variant with the reference on the seeds that both finished."""
    reference = chosen_reference(names, reference)
    rows: list[list[Cell]] = []
    for each in names:
        found = results.difference(each, reference) if each != reference else None
        if found is None:
            continue
        bootstrap, runs = found.bootstrap, found.t_test
        p_runs = p_of_runs(runs)
        rows.append(
            [
                each,
                Figure(bootstrap.difference),
                Figure(bootstrap.low),
                Figure(bootstrap.high),
                Figure(bootstrap.p_value),
                None if p_runs is None else Figure(p_runs),
                bootstrap.messages,
                runs.runs,
            ]
        )
    notes = [
        "By messages: paired bootstrap over test messages within each run, 10,000 draws, with its "
        "95 % interval; messages that several runs test count once for each. By runs: corrected "
        f"resampled t-test over seeds, left out below {FEWEST_RUNS} runs and where all runs differ "
        "by the same amount. Neither is corrected for the number of comparisons"
    ]
    fewest = min((row[-1] for row in rows if isinstance(row[-1], int)), default=0)
    if fewest < ENOUGH_RUNS:
        notes.append(
            f"Too few runs: p (runs) needs {FEWEST_RUNS} and says little below {ENOUGH_RUNS}, here "
            f"{fewest}"
        )
    title = titled(f"Accuracy against {reference}", results)
    return Table.build("significance", title, COLUMNS, rows, notes)
