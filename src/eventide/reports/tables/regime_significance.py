"""Who is better in which regime: differences of accuracy from a reference, and the winners."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from eventide.experiments.regime_results import RegimeResults
from eventide.experiments.results import Difference
from eventide.reports.tables.comparison_tables import NAME, tested
from eventide.reports.tables.regime_titles import dataset, shared_notes, short_title, titled_regimes
from eventide.reports.tables.significance_table import (
    COLUMNS,
    FEWEST_RUNS,
    chosen_reference,
    p_of_runs,
)
from eventide.reports.tables.table import Cell, Column, Figure, Table

Differences = Mapping[str, Mapping[str, Difference]]
"""By regime, then by method: how far it is from the reference."""

REGIME = Column("regime", "regime", words=True)
MARK = "*"
HOW = (
    "95 % interval by a paired bootstrap over test messages, the same draw for all runs; nothing "
    "is corrected for the number of comparisons"
)


def regime_reference(results: RegimeResults, asked: str | None = None) -> str:
    """Return the reference method: the one asked for, or ours, or the first."""
    return chosen_reference([each.name for each in results.variants], asked)


def regime_differences(results: RegimeResults, reference: str | None = None) -> Differences:
    """Compare every method with the reference in every regime that both ran in."""
    reference = regime_reference(results, reference)
    return {
        regime: {
            each.name: found
            for each in part.variants
            if each.name != reference
            and (found := part.difference(each.name, reference)) is not None
        }
        for regime, part in results.parts.items()
    }


def excludes_zero(difference: Difference) -> bool:
    """Tell whether the interval lies on one side of zero."""
    return not difference.bootstrap.low <= 0 <= difference.bootstrap.high


def significance_by_regime(
    results: RegimeResults, reference: str, differences: Differences
) -> Table:
    """Return one long table: a row per method and regime, with intervals and p-values."""
    rows: list[list[Cell]] = []
    for each in results.variants:
        for regime in results.parts:
            found = differences[regime].get(each.name)
            if found is None:
                continue
            bootstrap, p_runs = found.bootstrap, p_of_runs(found.t_test)
            rows.append(
                [
                    each.name,
                    regime,
                    Figure(bootstrap.difference),
                    Figure(bootstrap.low),
                    Figure(bootstrap.high),
                    Figure(bootstrap.p_value),
                    None if p_runs is None else Figure(p_runs),
                    bootstrap.messages,
                    found.t_test.runs,
                ]
            )
    notes = [
        f"Difference: ACC of the method less that of {reference}, in points; {HOW}",
        "p (messages): of that bootstrap; p (runs): corrected resampled t-test over seeds, left "
        f"out below {FEWEST_RUNS} runs and where all runs differ by the same amount",
        *shared_notes(results),
    ]
    title = titled_regimes(f"Accuracy against {reference} by regime, with p-values", results)
    table = Table.build("regimes-significance", title, (NAME, REGIME, *COLUMNS[1:]), rows, notes)
    return replace(table, data=dataset(results), code=results.made_by)


def difference_table(
    results: RegimeResults, reference: str, differences: Differences, *, intervals: bool = True
) -> Table:
    """Return methods by regimes: the difference, its interval, a mark where that excludes zero."""
    columns = [Column(name, short_title(name), spare=True) for name in results.parts]
    rows: list[list[Cell]] = [
        [
            each.name,
            *(_written(differences[regime].get(each.name), intervals) for regime in results.parts),
        ]
        for each in results.variants
        if each.name != reference
    ]
    notes = [
        f"ACC of the method less that of {reference}, in points"
        + (", with its interval; " if intervals else "; ")
        + f"{MARK} marks where the interval excludes 0",
        HOW[0].upper() + HOW[1:],
        *shared_notes(results),
    ]
    title = titled_regimes(f"Accuracy against {reference} by regime", results)
    table = Table.build("regimes-differences", title, (NAME, *columns), rows, notes)
    return replace(table, data=dataset(results), code=results.made_by)


def _written(found: Difference | None, intervals: bool) -> str | None:
    if found is None:
        return None
    low, high = found.bootstrap.low, found.bootstrap.high
    between = f" ({100 * low:+.1f}..{100 * high:+.1f})" if intervals else ""
    mark = MARK if excludes_zero(found) else " "
    return f"{100 * found.bootstrap.difference:+.1f}{between}{mark}"


def winners(
    results: RegimeResults, reference: str | None = None, differences: Differences | None = None
) -> list[str]:
    """Say for each regime who is best, and whether the reference differs from it beyond chance."""
    reference = regime_reference(results, reference)
    if differences is None:
        differences = regime_differences(results, reference)
    return [_winner(results, regime, reference, differences[regime]) for regime in results.parts]


LEVEL = 0.005
"""Points that a table shows as none."""


def _winner(
    results: RegimeResults, regime: str, reference: str, differences: Mapping[str, Difference]
) -> str:
    part = results.parts[regime]
    spreads = {each.name: part.spread(each.name, tested("accuracy")) for each in part.variants}
    means = {name: spread.mean for name, spread in spreads.items() if spread is not None}
    if not means:
        return f"{regime}: no run finished."
    # The reference is named first among equals.
    order = sorted(means, key=lambda name: (-round(means[name], 6), name != reference))
    best, second = order[0], order[1] if len(order) > 1 else None
    told = f"{regime}: {best} is best (ACC {means[best]:.2%})"
    if second is None:
        return f"{told}, alone here."
    if reference not in means:
        return f"{told}; {reference} did not run here."
    rival = second if best == reference else best
    found = differences.get(rival)
    if found is None:
        return f"{told}; {rival} and {reference} have no test messages in common."
    # The interval is of the best one less the other.
    turn = -100 if best == reference else 100
    ends = found.bootstrap.low, found.bootstrap.high
    low, high = sorted(turn * each + 0.0 for each in ends)  # no zero is negative
    ahead = turn * found.bootstrap.difference
    if abs(ahead) < LEVEL:
        return f"{told}, level with {rival}; the interval is {low:+.2f} to {high:+.2f} points."
    other = f"the next, {rival}," if best == reference else reference
    verdict = "excludes 0" if excludes_zero(found) else "includes 0, so that it may be chance"
    return (
        f"{told}, ahead of {other} by {ahead:.2f} points; "
        f"the interval ({low:+.2f} to {high:+.2f}) {verdict}."
    )
