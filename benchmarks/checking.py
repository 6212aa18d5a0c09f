"""How long does ``eventide check`` take, and where? The command, then each stage by itself.

    python benchmarks/checking.py [--messages 200000]

The messages are those of benchmarks/assigning.py: generated, many alike, without labels. Target:
200,000 messages in less than 20 seconds on two cores. Each stage is measured once, in one process.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from apart import watched
from assigning import new_messages


def stages(file: Path) -> dict[str, tuple[float, float]]:
    """Do what the command does, here; return the seconds of each stage, clock and processor."""
    spent: dict[str, tuple[float, float]] = {}

    def stage(name: str, work: Callable[[], Any]) -> Any:
        clock, processor = time.perf_counter(), time.process_time()
        found = work()
        spent[name] = time.perf_counter() - clock, time.process_time() - processor
        return found

    from eventide.data import read
    from eventide.data.schema import read_part
    from eventide.features.elements import with_elements
    from eventide.reports.profile.connections import quality, views
    from eventide.reports.profile.languages import languages
    from eventide.reports.profile.sections import classes, repeats, rows, times

    intake = stage("reading", lambda: read(file))
    messages = intake.messages
    elements = stage("elements", lambda: with_elements(messages))
    stage("rows, events, times", lambda: (rows(intake), classes(messages), times(messages)))
    stage("languages", lambda: languages(read_part(messages["text"])))
    stage("views", lambda: views(elements))
    stage("edges", lambda: quality(elements, str(file)))
    stage("repeated texts", lambda: repeats(messages))
    return spent


def main() -> None:
    """Write the messages, run the command, print its stages."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--messages", type=int, default=200_000)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "messages.jsonl"
        new_messages(asked.messages).write_ndjson(file)
        run = watched([sys.executable, "-m", "eventide", "check", str(file)])
        print(
            f"check {asked.messages:,} messages: {run.wall:.1f} s (processor {run.cpu:.1f} s), "
            f"peak memory {run.together:,.0f} MiB"
        )
        for name, (wall, cpu) in stages(file).items():
            print(f"  {name:<20} {wall:5.1f} s (processor {cpu:.1f} s)")


if __name__ == "__main__":
    main()
