"""How long do short commands take? Assigning 100 messages, ``--help``, ``import eventide``.

    python benchmarks/start.py
    python benchmarks/start.py --against 7b1785b

With ``--against`` the same is measured of an older commit, checked out into a temporary folder.
Both run with this interpreter, with the same messages, and with one model that the older commit
trained on the built-in sample. Runs alternate, so that a busy minute slows both. Medians of the
clock and of the processor (which counts both cores) are printed, and the ratios.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import polars as pl

from apart import ROOT, checked_out

Seconds = tuple[float, float]
"""On the clock, and of the processor."""


def run(tree: Path, *arguments: str) -> Seconds:
    """Run Python on the sources of ``tree``; return how long it took."""
    environment = {**os.environ, "PYTHONPATH": str(tree / "src")}
    before, clock = os.times(), time.perf_counter()
    done = subprocess.run(
        [sys.executable, *arguments], env=environment, capture_output=True, text=True, check=False
    )
    wall, after = time.perf_counter() - clock, os.times()
    if done.returncode:
        raise SystemExit(f"{' '.join(arguments)} failed in {tree}:\n{done.stderr}")
    used = after.children_user + after.children_system
    return wall, used - before.children_user - before.children_system


def trained(tree: Path, folder: Path, messages: int) -> list[str]:
    """Train a model in ``tree``; return the arguments of assigning new messages to its events."""
    sample, other, model, new = (
        str(folder / name) for name in ("sample.parquet", "other.parquet", "model", "new.jsonl")
    )
    run(tree, "-m", "eventide", "data", "sample", "--out", sample)
    run(tree, "-m", "eventide", "data", "sample", "--out", other, "--seed", "1")
    run(tree, "-m", "eventide", "train", sample, "--out", model, "--set", "training.epochs=2")
    frame = pl.read_parquet(other).select("id", "text", "created_at", "user").head(messages)
    frame.with_columns(pl.col("id") + "-new").write_ndjson(new)
    return ["-m", "eventide", "assign", model, new, "--json"]


def report(trees: Mapping[str, Path], commands: Mapping[str, list[str]], repeats: int) -> None:
    """Run every command in every tree by turns, and print a line for each."""
    for what, arguments in commands.items():
        spent: dict[str, list[Seconds]] = {name: [] for name in trees}
        for turn in range(repeats + 1):
            for name, tree in trees.items():
                seconds = run(tree, *arguments)
                if turn:  # the first time, files are read from the disk and compiled
                    spent[name].append(seconds)
        medians = {
            name: [statistics.median(column) for column in zip(*runs, strict=True)]
            for name, runs in spent.items()
        }
        line = f"{what:<24}" + "".join(
            f"{name}: {wall:.2f} s (processor {used:.2f} s)   "
            for name, (wall, used) in medians.items()
        )
        if len(medians) == 2:
            now, then = medians.values()
            line += f"ratio {now[0] / then[0]:.2f} (processor {now[1] / then[1]:.2f})"
        print(line.rstrip())


def measure(trees: Mapping[str, Path], folder: Path, messages: int, repeats: int) -> None:
    """Train with the oldest of the trees, then report on the short commands."""
    commands = {
        f"assign {messages} messages": trained(list(trees.values())[-1], folder, messages),
        "eventide --help": ["-m", "eventide", "--help"],
        "import eventide": ["-c", "import eventide"],
    }
    report(trees, commands, repeats)


def main() -> None:
    """Read the arguments and measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--against", metavar="COMMIT", help="measure this commit too")
    parser.add_argument("--messages", type=int, default=100, help="messages to assign")
    parser.add_argument("--repeats", type=int, default=7, help="runs of each, after one to warm up")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder, asked = Path(name), (arguments.messages, arguments.repeats)
        if arguments.against is None:
            measure({"now": ROOT}, folder, *asked)
            return
        with checked_out(arguments.against) as older:
            measure({"now": ROOT, arguments.against: older}, folder, *asked)


if __name__ == "__main__":
    main()
