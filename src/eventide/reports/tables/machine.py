"""A comparison's results for a program to read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from eventide.comparison.results import Difference, Results, Spread
from eventide.reports.tables import paper
from eventide.reports.tables.comparison import MEASURES, tested
from eventide.reports.tables.significance import chosen_reference, p_of_runs


def as_data(
    results: Results, notes: Sequence[str] = (), reference: str | None = None
) -> dict[str, Any]:
    """Return everything that ``json`` can write: conditions, means, differences, failures."""
    reference = chosen_reference([each.name for each in results.contestants], reference)
    differences = [
        results.difference(each.name, reference)
        for each in results.contestants
        if each.name != reference
    ]
    return {
        **asdict(results.plan),
        "seeds": list(results.seeds),
        "contestants": [_contestant(results, each.name) for each in results.contestants],
        "reference": reference,
        "differences": [_difference(each) for each in differences if each is not None],
        "failures": [
            {"contestant": run.contestant, "seed": run.seed, "error": run.error}
            for run in results.failures
        ],
        "notes": [*notes, *results.notes],
        "runs": str(results.path),
        "code": results.made_by,
    }


def _difference(found: Difference) -> dict[str, Any]:
    written = asdict(found)
    written["t_test"]["p_value"] = p_of_runs(found.t_test)
    return written


def _contestant(results: Results, name: str) -> dict[str, Any]:
    dataset = results.plan.dataset
    spreads: dict[str, Spread | None] = {
        measure: results.spread(name, tested(measure)) for measure in MEASURES
    }
    spreads["validation_accuracy"] = results.spread(name, lambda run: run.validation.accuracy)
    spreads["uncertainty_right"] = results.spread(name, tested("uncertainty_right"))
    spreads["uncertainty_wrong"] = results.spread(name, tested("uncertainty_wrong"))
    spreads["seconds_per_epoch"] = results.spread(name, lambda run: run.seconds.epoch)
    spreads["seconds_to_fit"] = results.spread(name, lambda run: run.seconds.fit)
    printed = {
        measure: found
        for measure, short in (("accuracy", "acc"), ("macro_f1", "f1"))
        if (found := paper.figure(name, dataset, short)) is not None
    }
    return {
        "name": name,
        "note": results.note(name),
        "runs": len(results.outcomes(name)),
        **{key: None if spread is None else asdict(spread) for key, spread in spreads.items()},
        "paper": {
            measure: {"mean": found.mean, "deviation": found.deviation}
            for measure, found in printed.items()
        },
    }
