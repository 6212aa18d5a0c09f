"""Try settings: train every trial on every split, and print validation figures beside test figures.

    python benchmarks/trials.py crisislex-t7 --splits 100-103 --out tuning \\
        --trials benchmarks/tuning_trials.json

The file of trials maps a trial's name to {"method": ..., settings by dotted name}. Every trial sees
the same splits, epochs and seeds; ``sample`` is the built-in one, drawn anew by every split's seed.
Choose by the validation figures of split seeds >= 100; report other seeds with `eventide compare`.
The messages of all splits come from one pool, so that a message that helped to choose on one split
can be tested on another. Finished runs in the folder are not run again.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from eventide.data.sample import sample
from eventide.experiments import compare
from eventide.experiments.prepared import read_experiment_data
from eventide.experiments.results import Spread, pooled_auroc
from eventide.experiments.run_log import Outcome
from eventide.experiments.variants import Variant
from eventide.features.encoders import DEFAULT_ENCODER


def main() -> None:
    """Run what has not been run yet, then print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dataset")
    parser.add_argument("--splits", default="100-103")
    parser.add_argument("--trials", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", nargs="*", help="names of trials, all by default")
    parser.add_argument("--encoder", default=DEFAULT_ENCODER)
    parser.add_argument("--protocol", default="transductive")
    parser.add_argument("--epochs", type=int, help="at most, for all trials (a large set)")
    parser.add_argument("--patience", type=int, help="for all trials")
    parser.add_argument("--workers", type=int, default=2)
    asked = parser.parse_args()
    first, _, last = asked.splits.partition("-")
    trials = json.loads(asked.trials.read_text())
    variants = [
        Variant(name, changes.pop("method"), changes)
        for name, changes in trials.items()
        if not asked.only or name in asked.only
    ]
    found = run(asked, variants, range(int(first), int(last or first) + 1))
    print(table(found))


def run(
    asked: argparse.Namespace, variants: list[Variant], seeds: range
) -> dict[str, list[Outcome]]:
    """Run the trials; every seed has a sample of its own."""
    options: dict[str, Any] = {
        "out": asked.out,
        "encoder": asked.encoder,
        "protocol": asked.protocol,
        "workers": asked.workers,
        "changes": {
            f"training.{name}": value
            for name, value in (("epochs", asked.epochs), ("patience", asked.patience))
            if value is not None
        },
    }
    if asked.dataset != "sample":
        results = [compare(asked.dataset, variants, seeds, **options)]
    else:
        results = [
            compare(read_experiment_data(sample(seed)), variants, [seed], split="stored", **options)
            for seed in seeds
        ]
    return {
        each.name: [outcome for part in results for outcome in part.outcomes(each.name)]
        for each in variants
    }


def table(found: dict[str, list[Outcome]]) -> str:
    """Mean and deviation over splits of every trial."""
    head = "runs  val ACC         val F1   test ACC        test F1  AUROC  epochs  seconds"
    lines = [f"{'trial':<30} {head}"]
    for name, outcomes in found.items():
        if not outcomes:
            lines.append(f"{name:<30} failed, see the folder")
            continue
        f1 = 100 * np.mean([each.validation.macro_f1 for each in outcomes])
        test_f1 = 100 * np.mean([each.test.macro_f1 for each in outcomes])
        lines.append(
            f"{name:<30} {len(outcomes):>4}  "
            f"{_spread([each.validation.accuracy for each in outcomes])}  {f1:6.2f}   "
            f"{_spread([each.test.accuracy for each in outcomes])}  {test_f1:6.2f}   "
            f"{_auroc(outcomes)}  {np.mean([each.epochs for each in outcomes]):6.0f}  "
            f"{np.mean([each.seconds.fit for each in outcomes]):7.0f}"
        )
    return "\n".join(lines)


def _spread(values: list[Any]) -> str:
    spread = Spread.of(values)
    assert spread is not None
    return f"{100 * spread.mean:6.2f} ± {100 * (spread.deviation or 0):4.2f}"


def _auroc(outcomes: list[Outcome]) -> str:
    value = pooled_auroc(outcomes)
    return "  -  " if value is None else f"{value:.3f}"


if __name__ == "__main__":
    main()
