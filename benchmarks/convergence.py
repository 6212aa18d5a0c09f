"""Seconds of training until a share of the final accuracy is reached, ours beside others.

    python benchmarks/convergence.py                       # crisislex-lt28
    python benchmarks/convergence.py --against 3f8a691     # and the default of an older commit
    python benchmarks/convergence.py sample.parquet        # any source with a split

Each run has a process of its own, set up as the command line's. The final accuracy is the best on
validation messages of any epoch; what is printed is when an epoch first had 97 % of it, when one
first had it all but half a point, and when the first one had it. Reading, encoding and connecting
the messages are not counted; logistic regression has no epochs, so its whole fit is.
"""

from __future__ import annotations

import argparse
from contextlib import suppress
from typing import Any

from apart import checked_out, report, run_apart

SHARE = 0.97
NEAR = 0.005
VARIANTS = ("ucl-sharp", "ucl-ec", "ce", "lr-encoder")


def one(source: str, method: str, epochs: int, rounds: int | None) -> None:
    """Fit a method here, and report its validation accuracy after each epoch."""
    import eventide

    with suppress(ImportError):  # older commits have none
        from eventide.runtime.own_process import make_own

        make_own()
    changes: dict[str, Any] = {} if method == "lr-encoder" else {"training__epochs": epochs}
    if rounds is not None:
        changes["training__layer1_refresh"] = rounds
    chosen = {} if method == "default" else {"method": method}
    model = eventide.EventClassifier(**chosen, **changes).fit(source)
    history = model.history_
    report(
        seconds=[row["seconds"] for row in history],
        accuracy=[row["validation_accuracy"] for row in history],
    )


def reached(figures: dict[str, Any], wanted: float) -> tuple[int, float]:
    """The first epoch with the wanted accuracy, and the seconds until it ended."""
    spent = 0.0
    for epoch, (seconds, accuracy) in enumerate(
        zip(figures["seconds"], figures["accuracy"], strict=True), start=1
    ):
        spent += seconds
        if accuracy >= wanted:
            return epoch, spent
    raise AssertionError("the best epoch has the best accuracy")


def main() -> None:
    """Run every variant, then the older commit."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", nargs="?", default="crisislex-lt28")
    parser.add_argument("--methods", default=",".join(VARIANTS))
    parser.add_argument("--epochs", type=int, default=15)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, help="training.layer1_refresh for all of ours")
    parser.add_argument("--against", help="a commit whose default is run beside")
    parser.add_argument("--one", help="run this method here")
    asked = parser.parse_args()
    if asked.one:
        one(asked.source, asked.one, asked.epochs, asked.rounds)
        return
    given = [asked.source, f"--epochs={asked.epochs}"]
    rounds = [] if asked.rounds is None else [f"--rounds={asked.rounds}"]
    found = {
        name: run_apart(__file__, [*given, *rounds, f"--one={name}"], asked.threads)
        for name in asked.methods.split(",")
    }
    if asked.against:
        with checked_out(asked.against) as tree:
            found[f"default of {asked.against}"] = run_apart(
                __file__, [*given, "--one=default"], asked.threads, str(tree / "src")
            )
    print(f"{'':20}{'best':>8}{'97 % of it':>16}{'0.5 below':>16}{'all':>16}{'an epoch':>10}")
    for name, row in found.items():
        best = max(row["accuracy"])
        cells = [reached(row, wanted) for wanted in (SHARE * best, best - NEAR, best)]
        text = "".join(f"{spent:9.1f} s ({epoch:2})" for epoch, spent in cells)
        mean = sum(row["seconds"]) / len(row["seconds"])
        print(f"{name:20}{best:8.2%}{text}{mean:8.1f} s")
    if asked.against:
        ours, old = next(iter(found)), f"default of {asked.against}"
        best = {name: max(found[name]["accuracy"]) for name in (ours, old)}
        for label, share, below in (("97 %", SHARE, 0.0), ("0.5 below", 1, NEAR), ("all", 1, 0.0)):
            mine, others = (
                reached(found[name], share * each - below)[1] for name, each in best.items()
            )
            print(f"{label}: {ours} takes {mine / others:.2f} of {old}'s seconds")


if __name__ == "__main__":
    main()
