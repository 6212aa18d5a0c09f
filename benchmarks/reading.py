"""Reading a million messages: time and memory against polars reading the same file.

    python benchmarks/reading.py [--messages 1000000]

Each reading runs in a fresh process. Time is wall clock without the imports. Memory is the peak
resident set (``ru_maxrss``) minus the resident set right before reading starts, so neither the
interpreter nor the imports count. Two files: a clean one, and one where one line in a thousand is
bad (broken JSON, wrong encoding, empty text, unparsable time, NUL, lone surrogate, duplicate id).
Targets: at most 5 times polars' time, at most 4 times the file's size in memory.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

PROSE = (
    "river water rising fast near the old bridge people wait for news and help while streets stay "
    "closed after storm last night power is out again in town we need shelter food drivers turn "
    "back please share this map of safe roads from our team morning update more rain expected"
)
WORDS = PROSE.split()
TIME_LIMIT, MEMORY_LIMIT = 5.0, 4.0


def message(number: int, rng: random.Random) -> dict[str, object]:
    """Invent a message; tags, names and links are as frequent as in CrisisLexT26's tweets."""
    words = rng.choices(WORDS, k=rng.randint(14, 24))
    if rng.random() < 0.61:
        words.insert(rng.randrange(len(words)), f"#{rng.choice(WORDS)}{rng.randrange(500)}")
    if rng.random() < 0.63:
        words.insert(0, f"@user{rng.randrange(50_000)}")
    if rng.random() < 0.53:
        words.append(f"https://example.org/{rng.randrange(10**6):x}")
    moment = datetime(2013, 6, 1, tzinfo=UTC) + timedelta(seconds=number * 3)
    twitter = number % 2
    record: dict[str, object] = {
        "id": str(400_000_000_000_000_000 + number * 4_194_304),
        "text": " ".join(words),
        "created_at": moment.strftime("%a %b %d %H:%M:%S +0000 %Y")
        if twitter
        else moment.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "event": f"event-{number % 40}",
        "user": f"user{rng.randrange(50_000)}",
    }
    if number % 3:
        names = rng.sample(WORDS, k=rng.randrange(3))
        # Lists written as their Python text are as common in the wild as real ones.
        record["entities"] = names if number % 3 == 1 else str(names)
    return record


def spoiled(line: bytes, kind: int) -> bytes:
    """Damage a line in one of eight ways."""
    if kind == 0:
        return line[: len(line) // 2]
    if kind == 1:
        return line.replace(b'"text": "', b'"text": "\xe9')
    if kind == 2:
        return line.replace(b'"text": "', b'"text": oops "')
    changes = ({"text": " "}, {"created_at": "soon"}, {"text": "a\x00"}, {"text": "\ud800"})
    change = changes[kind - 3] if kind < 7 else {"id": "400000000000000000"}
    return json.dumps(json.loads(line) | change).encode()


def write(path: Path, messages: int, every: int | None) -> None:
    """Write the file; with ``every``, one line in so many is bad."""
    rng = random.Random(7)
    with path.open("wb") as file:
        for number in range(messages):
            line = json.dumps(message(number, rng), ensure_ascii=False).encode()
            if every and number % every == every // 2:
                line = spoiled(line, number // every % 8)
            file.write(line + b"\n")


def measure(how: str, path: Path) -> dict[str, float]:
    """Read in this process and say how long it took and how much memory it needed."""
    import resource

    import polars as pl

    from eventide.data import read
    from eventide.features.elements import with_tags

    statm = Path("/proc/self/statm")
    before = int(statm.read_text().split()[1]) * resource.getpagesize()
    start = time.perf_counter()
    rejected = 0
    if how == "polars":
        rows = len(pl.read_ndjson(path))
    else:
        intake = read(path)
        messages = with_tags(intake.messages)
        rows, rejected = intake.rows_in, len(intake.rejected)
        assert len(messages) == rows - rejected
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {"seconds": seconds, "bytes": peak - before, "rows": rows, "rejected": rejected}


def fresh(how: str, path: Path) -> dict[str, float]:
    """Measure in a fresh process."""
    command = [sys.executable, __file__, "--measure", how, str(path)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    result: dict[str, float] = json.loads(done.stdout)
    return result


def best(runs: list[dict[str, float]]) -> dict[str, float]:
    """Take the quickest run, and the largest memory of all."""
    return min(runs, key=lambda run: run["seconds"]) | {"bytes": max(run["bytes"] for run in runs)}


def main() -> None:
    """Generate both files, measure, print the ratios; fail if a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--measure", nargs=2, metavar=("HOW", "PATH"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(options.measure[0], Path(options.measure[1]))))
        return
    met = True
    with tempfile.TemporaryDirectory() as folder:
        clean, spoilt = Path(folder) / "clean.jsonl", Path(folder) / "spoilt.jsonl"
        write(clean, options.messages, None)
        write(spoilt, options.messages, 1000)
        # polars refuses the spoilt file altogether, so both are compared with the clean one. The
        # three take turns, so that whatever else the machine does meets all of them.
        jobs = (("polars", clean), ("eventide", clean), ("eventide", spoilt))
        turns = [[fresh(*job) for job in jobs] for _ in range(options.repeats)]
        plain, ours_clean, ours_spoilt = (best(list(runs)) for runs in zip(*turns, strict=True))
        size = clean.stat().st_size
        print(f"{options.messages:,} messages, {size / 1e6:.0f} MB")
        print(f"polars.read_ndjson  {plain['seconds']:.2f} s, {plain['bytes'] / size:.2f} x file")
        for name, ours in (("clean", ours_clean), ("0.1 % bad lines", ours_spoilt)):
            slower = ours["seconds"] / plain["seconds"]
            memory = ours["bytes"] / size
            met = met and slower <= TIME_LIMIT and memory <= MEMORY_LIMIT
            print(
                f"eventide, {name}: {ours['seconds']:.2f} s = {slower:.2f} x polars "
                f"(target {TIME_LIMIT:.0f}), memory {memory:.2f} x file (target "
                f"{MEMORY_LIMIT:.0f}), {ours['rows']:,.0f} rows, {ours['rejected']:,.0f} rejected"
            )
    print("targets met" if met else "TARGET MISSED")
    sys.exit(0 if met else 1)


if __name__ == "__main__":
    main()
