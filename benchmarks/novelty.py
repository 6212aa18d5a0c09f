"""How well novelty finds events that a model has never seen: each event left out in turn.

    python benchmarks/novelty.py crisislex-t7
    python benchmarks/novelty.py crisislex-t7 --without-times
    python benchmarks/novelty.py crisislex-lt28 --every 3 --most 300
    python benchmarks/novelty.py crisislex-t7 --seeds 5 --log novelty.jsonl   # goes on

Thresholds and weights come from validation messages of the events that are left; the figures from
locked messages. AUROC of novelty, of each signal alone, and of the entropy of logistic regression
on the same vectors (the signal `probe`); the share found at a wanted 5 % of false alarms.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from eventide.experiments.prepared import read_experiment_data
from eventide.experiments.regime_draws import unseen_event_regime
from eventide.model import EventClassifier
from eventide.model.novelty_scores import evidence_of_messages
from eventide.novelty.signals import FITTED, SIGNALS, signal_table
from eventide.scoring.metrics import error_auroc


def measured(pool, place, seed, changes):
    """Leave one event out; return the AUROC of everything, the share found, and false alarms."""
    messages = unseen_event_regime(pool, place)
    learned = messages.filter(pl.col("split") != "test")
    tested = messages.filter(pl.col("split") == "test")
    model = EventClassifier(seed=seed, **changes).fit(learned)
    if model.novelty_ is None:
        raise SystemExit("too few validation messages")
    new = ~tested["event"].is_in(model.class_names.tolist()).to_numpy()
    match = model.inference.match(tested).as_new()
    ((_, said, corpus),) = model.inference.parts(tested, match)
    evidence = evidence_of_messages(said, corpus, model.reference, model.novelty_.probe)
    table = signal_table(evidence)
    detector = model.novelty_.detector
    novelty = detector.novelty(table)
    called = novelty > detector.threshold()
    found = {"novelty": error_auroc(new, novelty), "doubt": error_auroc(new, said.doubt)}
    signals = list(SIGNALS)[:FITTED]
    found |= {name: error_auroc(new, table[:, at]) for at, name in enumerate(signals)}
    found = {name: float(value) for name, value in found.items()}
    return found, called[new].mean(), called[~new].mean(), tested["event"].filter(new)[0]


def fewer(pool, most):
    """Keep at most so many learned and so many tested messages of each event, drawn at random."""
    kind = pl.Series("tested", pool.tested)
    rank = pl.int_range(pl.len()).shuffle(seed=0).over("event", kind)
    kept = pool.messages.select(pl.col("event").is_not_null() & (rank < most)).to_series()
    return pool.taken(np.flatnonzero(kept.to_numpy()))


def logged(path):
    """Read the runs that a log has, by what they were."""
    if path is None or not path.exists():
        return {}
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return {json.dumps(each["run"]): each for each in lines}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dataset")
    parser.add_argument("--without-times", action="store_true")
    parser.add_argument("--every", type=int, default=1, help="leave out every n-th event by size")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--most", type=int, help="at most so many messages of each event")
    parser.add_argument("--log", type=Path, help="runs are kept here, and not made again")
    parser.add_argument("--tuning", action="store_true", help="use no locked message at all")
    given = parser.parse_args()
    data = read_experiment_data(given.dataset)
    pool = data.tuning_pool if given.tuning else data.locked_pool
    if given.without_times:
        missing = pl.lit(None, dtype=pool.messages["created_at"].dtype)
        pool = replace(pool, messages=pool.messages.with_columns(created_at=missing))
    if given.most is not None:
        pool = fewer(pool, given.most)
    changes = {} if given.epochs is None else {"training__epochs": given.epochs}
    rows, shares, alarms, log = [], [], [], logged(given.log)
    for seed in range(given.seeds):
        for place in range(0, pool.messages["event"].n_unique(), given.every):
            started = time.perf_counter()
            run = [given.dataset, place, seed, given.most, given.epochs, given.without_times]
            run.append(given.tuning)
            told = log.get(json.dumps(run))
            if told is None:
                found, share, alarm, event = measured(pool, place, seed, changes)
                told = {"run": run, "event": event, "auroc": found}
                told |= {"found": float(share), "false_alarms": float(alarm)}
                if given.log is not None:
                    with given.log.open("a") as file:
                        file.write(json.dumps(told) + "\n")
            rows.append(told["auroc"])
            shares.append(told["found"])
            alarms.append(told["false_alarms"])
            said = " ".join(f"{name} {value:.3f}" for name, value in rows[-1].items())
            print(f"{told['event']:32s} {said} found {shares[-1]:.2f}", end=" ")
            print(f"false alarms {alarms[-1]:.3f} ({time.perf_counter() - started:.0f} s)")
    print(f"\n{len(rows)} runs")
    print("             mean    worst")
    for name in rows[0]:
        values = [row[name] for row in rows]
        print(f"{name:12s} {np.mean(values):.4f}  {np.min(values):.4f}")
    print(f"found {np.mean(shares):.3f} (worst {np.min(shares):.3f}) ", end="")
    print(f"at {np.mean(alarms):.3f} false alarms")


if __name__ == "__main__":
    main()
