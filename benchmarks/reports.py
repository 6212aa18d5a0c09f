"""How long does a report take, and how large is it? crisislex-lt28's, and the sample's.

    python benchmarks/reports.py
    python benchmarks/reports.py --model MODEL     # a model of crisislex-lt28 that is there already

The first is the whole command ``eventide report MODEL crisislex-lt28``, with a model that is
trained for one epoch if none is given: the report does not depend on how well it has learned. The
second is what the report adds to ``eventide demo``: it is made in a process that has fitted and
evaluated.
Printed are seconds on the clock, seconds of the processor, and bytes.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from eventide.cli.report import write_report
from eventide.data.sample import sample
from eventide.model import EventClassifier

DATASET = "crisislex-lt28"
LIMITS = {DATASET: (60.0, 5_000_000), "sample": (5.0, 5_000_000)}
"""Seconds and bytes that are asked for."""


def command(*words: object) -> None:
    """Run a verb in a process of its own."""
    asked = [sys.executable, "-m", "eventide", *map(str, words)]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(asked)} failed:\n{done.stderr}")


def processor() -> float:
    """Return the processor's seconds of this process and its children."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def told(name: str, clock: float, used: float, path: Path) -> None:
    """Print one line, with what was asked for."""
    size, (seconds, most) = path.stat().st_size, LIMITS[name]
    kept = "yes" if clock < seconds and size < most else "NO"
    print(
        f"{name:<16}{clock:>8.1f} s clock{used:>8.1f} s processor{size / 1e6:>8.2f} MB"
        f"   under {seconds:.0f} s and {most / 1e6:.0f} MB: {kept}"
    )


def main() -> None:
    """Measure both."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--model", type=Path, help=f"a model of {DATASET}")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        model = asked.model
        if model is None:
            model = folder / "model"
            changes = ("--set", "training.epochs=1", "--checkpoint-every", "0")
            command("train", DATASET, "--out", model, *changes)
        out = folder / "lt28.html"
        clock, used = time.perf_counter(), processor()
        command("report", model, DATASET, "--out", out)
        told(DATASET, time.perf_counter() - clock, processor() - used, out)
        messages = sample()
        fitted = EventClassifier(training__epochs=2).fit(messages)
        fitted.evaluate(messages)
        out = folder / "sample.html"
        clock, used = time.perf_counter(), processor()
        write_report(fitted, messages, out, "sample.parquet")
        told("sample", time.perf_counter() - clock, processor() - used, out)


if __name__ == "__main__":
    main()
