"""The stream benchmark from several starts: each draws other messages and another training.

    python benchmarks/streams.py crisislex-lt28 --starts 5 --most 100 --epochs 15 --log done.jsonl

The log keeps what is done, so that the same command goes on. Figures are of all starts together;
intervals of differences draw calendar days again, each with its messages of every start, because
starts share their days and events.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, fields, replace
from pathlib import Path

import numpy as np

from eventide.cli.stream import ALL, show_differences, show_results
from eventide.experiments.prepared import read_experiment_data
from eventide.experiments.stream import StreamDay, StreamResult, run_stream, stream_messages
from eventide.experiments.stream_grouping import EventGrouping

MANY = 10
"""Messages of a new event, before its first label, from which on it is not small."""
COUNTED = [each.name for each in fields(StreamDay) if each.name not in ("day", "seconds")]


def plain(result):
    """Return plain values that ``restored`` reads."""
    return asdict(result)


def restored(told):
    """Read a result back."""
    days = [StreamDay(**each) for each in told["days"]]
    groups = {event: EventGrouping(**each) for event, each in told["groups"].items()}
    return StreamResult(**(told | {"days": days, "groups": groups}))


def together(results):
    """Join the results of several starts: a day has its messages of every start."""
    parts = {}
    for result in results:
        ends = np.cumsum([day.messages for day in result.days])[:-1]
        rights = np.split(np.array(result.right, dtype=bool), ends)
        for day, right in zip(result.days, rights, strict=True):
            parts.setdefault(day.day, []).append((day, right))
    days, right = [], []
    for _, same in sorted(parts.items()):
        first = same[0][0]
        sums = {name: sum(getattr(day, name) for day, _ in same) for name in COUNTED}
        seconds = sum(day.seconds for day, _ in same) / len(same)
        days.append(replace(first, **sums, seconds=seconds))
        right += np.concatenate([each for _, each in same]).tolist()
    named = list(enumerate(results))
    delays = {f"{at} {event}": each for at, one in named for event, each in one.delays.items()}
    groups = {f"{at} {event}": each for at, one in named for event, each in one.groups.items()}
    purities = [each.purity for each in results if each.purity is not None]
    purity = float(np.mean(purities)) if purities else None
    return StreamResult(results[0].name, days, delays, right, groups, purity)


def show_candidates(result):
    """Say how much of a new event its largest candidate holds, and how pure it is: medians."""
    groups = list(result.groups.values())
    many = [each for each in groups if each.messages >= MANY]
    if many:
        share, purity, larger = (
            float(np.median(values))
            for values in (
                [each.share for each in groups],
                [each.purity for each in groups],
                [each.share for each in many],
            )
        )
        print(
            f"{result.name}: the largest candidate holds {share:.0%} of a new event, "
            f"purity {purity:.2f}; {larger:.0%} where {MANY} or more messages come (medians)"
        )


def main() -> None:
    """Run what the log lacks, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dataset")
    parser.add_argument("--starts", type=int, default=5)
    parser.add_argument("--methods", default=ALL)
    parser.add_argument("--most", type=int)
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--log", type=Path, help="runs are kept here, and not made again")
    given = parser.parse_args()
    messages = read_experiment_data(given.dataset).messages
    lines = given.log.read_text().splitlines() if given.log and given.log.exists() else []
    done = {json.dumps(each["run"]): each["result"] for each in map(json.loads, lines)}
    results = {}
    for start in range(given.starts):
        for name in given.methods.split(","):
            run = [given.dataset, name, start, given.most, given.epochs]
            if json.dumps(run) not in done:
                frame = stream_messages(messages, given.most, start)
                (result,) = run_stream(frame, [name], epochs=given.epochs, seed=start)
                done[json.dumps(run)] = plain(result)
                if given.log is not None:
                    with given.log.open("a") as file:
                        file.write(json.dumps({"run": run, "result": plain(result)}) + "\n")
            results.setdefault(name, []).append(restored(done[json.dumps(run)]))
            told = results[name][-1].summary()
            print(f"{name} start {start}: {told['accuracy']:.3f} right", flush=True)
    joined = [together(each) for each in results.values()]
    show_results(joined)
    for each in joined:
        show_candidates(each)
    show_differences(joined)


if __name__ == "__main__":
    main()
