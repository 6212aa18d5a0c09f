"""Train many settings on many splits and keep one JSON line per run: tuning and final figures.

    python benchmarks/trials.py crisislex-t7 --splits 100-102 \\
        --trials benchmarks/tuning_trials.json --out tuning.jsonl
    python benchmarks/trials.py crisislex-t7 --splits 0-4 \\
        --trials benchmarks/default_trials.json --out results.jsonl

The file of trials maps a trial's name to {"method": ..., settings by dotted name}. Every trial sees
the same splits, epochs and seeds; ``sample`` is the built-in one, drawn anew by every split's seed.
Tune on split seeds >= 100 by the validation figures; report split seeds 0-4 by the test figures.
Finished runs in the output file are not run again.
"""

from __future__ import annotations

import argparse
import json
import time
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

LATE = 20
"""Epochs at the end whose mean validation accuracy is a steadier figure than the best one's."""


def main() -> None:
    """Run what has not been run yet, then print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dataset")
    parser.add_argument("--splits", default="100-104")
    parser.add_argument("--trials", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--encoder", default=None)
    parser.add_argument("--protocol", default="transductive")
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    first, _, last = options.splits.partition("-")
    trials = json.loads(options.trials.read_text())
    done = _done(options.out)
    jobs = [
        (options.dataset, split, options.encoder, options.protocol, name, trial)
        for split in range(int(first), int(last or first) + 1)
        for name, trial in trials.items()
        if (options.dataset, split, name) not in done
    ]
    with ProcessPoolExecutor(options.processes) as pool, options.out.open("a") as out:
        for row in pool.map(run, jobs):
            out.write(json.dumps(row) + "\n")
            out.flush()
    print(table(options.out, options.dataset, list(trials)))


def run(job: tuple[str, int, str | None, str, str, dict[str, Any]]) -> dict[str, Any]:
    """Train one trial on one split and return its figures."""
    import torch

    from eventide.methods import METHODS
    from eventide.scoring.metrics import accuracy, error_auroc, macro_f1
    from eventide.settings import preset, resolve

    dataset, split, encoder, protocol, name, trial = job
    torch.set_num_threads(1)
    plan, test_rows, test_labels = prepared(dataset, split, encoder, protocol)
    changes = {key: value for key, value in trial.items() if "." in key}
    method = METHODS.load(trial["method"])
    settings = resolve(preset(trial.get("preset", "default")), method.defaults, changes)
    model = method(settings, split)
    started = time.perf_counter()
    fitted = model.fit(plan.problem, lambda row: None, None)
    seconds = time.perf_counter() - started
    best = fitted.history[fitted.best_epoch - 1]
    judged = model.judge_new(test_rows) if protocol == "inductive" else model.judge(test_rows)
    wrong = judged.predicted != test_labels
    return {
        "dataset": dataset,
        "split": split,
        "trial": name,
        "method": trial["method"],
        "encoder": plan.preparation.encoder.name,
        "protocol": protocol,
        "settings": changes,
        "validation_accuracy": best["validation_accuracy"],
        "validation_f1": best["validation_f1"],
        "validation_loss": best["validation_loss"],
        "validation_late": float(
            np.mean([row["validation_accuracy"] for row in fitted.history[-LATE:]])
        ),
        "best_epoch": fitted.best_epoch,
        "epochs": len(fitted.history),
        "seconds": seconds,
        "test_accuracy": accuracy(test_labels, judged.predicted),
        "test_f1": macro_f1(test_labels, judged.predicted),
        "auroc": error_auroc(wrong, judged.uncertainty),
        "wrong": wrong.astype(int).tolist(),
        "uncertainty": [round(float(u), 6) for u in judged.uncertainty],
    }


@cache
def prepared(dataset: str, split: int, encoder: str | None, protocol: str) -> Any:
    """Read, split, encode and connect a dataset once for all trials of a split."""
    from eventide.data import read
    from eventide.data.sample import sample
    from eventide.data.splits import per_class_split
    from eventide.features.elements import with_elements
    from eventide.features.encoders import DEFAULT_ENCODER
    from eventide.features.encoders import encoder as make_encoder
    from eventide.graphs.settings import GraphSettings
    from eventide.graphs.views import PAPER_VIEWS
    from eventide.training.study import study

    if dataset == "sample":
        messages = with_elements(sample(seed=split))
    else:
        messages = with_elements(per_class_split(read(dataset).messages, seed=split))
    plan = study(
        messages,
        encoder=make_encoder(encoder or DEFAULT_ENCODER),
        views=PAPER_VIEWS,
        graph=GraphSettings(),
        inductive=protocol == "inductive",
        seed=split,
    )
    held_out = messages["split"] == "test"
    test = messages.filter(held_out)
    labels = np.searchsorted(plan.classes, test["event"].to_numpy().astype(str))
    if protocol == "inductive":
        return plan, plan.preparation.prepare(test), labels
    return plan, np.flatnonzero(held_out.to_numpy()), labels


def table(path: Path, dataset: str, trials: list[str]) -> str:
    """Mean and deviation over splits of every trial."""
    rows = pl.read_ndjson(path, infer_schema_length=None)
    rows = rows.filter((pl.col("dataset") == dataset) & pl.col("trial").is_in(trials))
    head = "runs  val ACC         late ACC        val F1   test ACC        test F1  AUROC  s"
    lines = [f"{'trial':<34} {head}"]
    for (name,), group in rows.group_by("trial", maintain_order=True):
        pooled = _pooled_auroc(group)
        lines.append(
            f"{name!s:<34} {len(group):>4}  {_spread(group, 'validation_accuracy')}"
            f"  {_spread(group, 'validation_late')}"
            f"  {100 * group['validation_f1'].mean():6.2f}   {_spread(group, 'test_accuracy')}"
            f"  {100 * group['test_f1'].mean():6.2f}   {pooled}  {group['seconds'].mean():.0f}"
        )
    return "\n".join(lines)


def _spread(group: pl.DataFrame, column: str) -> str:
    deviation = group[column].std() or 0.0
    return f"{100 * group[column].mean():6.2f} ± {100 * deviation:4.2f}"


def _pooled_auroc(group: pl.DataFrame) -> str:
    from eventide.scoring.metrics import error_auroc

    wrong = np.concatenate([np.array(row) for row in group["wrong"].to_list()]).astype(bool)
    uncertainty = np.concatenate([np.array(row) for row in group["uncertainty"].to_list()])
    value = error_auroc(wrong, uncertainty)
    return "  -  " if value is None else f"{value:.3f}"


def _done(path: Path) -> set[tuple[str, int, str]]:
    if not path.exists():
        return set()
    rows = (json.loads(line) for line in path.read_text().splitlines())
    return {(row["dataset"], row["split"], row["trial"]) for row in rows}


if __name__ == "__main__":
    main()
