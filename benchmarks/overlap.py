"""How many test messages of some split seeds were validation or test messages of other ones.

    python benchmarks/overlap.py crisislex-t7

All splits of a set are drawn from one pool. Settings were chosen on the validation and held-out
messages of seeds 100-103, and results on seeds 0-4 were seen meanwhile. This prints the share of
the test messages of seeds 5-9 that were among them: in all, and for the two smallest events.
Nothing is trained.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import polars as pl

from eventide.cli.compare import read_seeds
from eventide.data.splits import split_messages
from eventide.experiments import read_experiment_data

LOOKED_AT = ("val", "test")
SMALLEST = 2


def main() -> None:
    """Draw the splits, and print the shares."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dataset", nargs="?", default="crisislex-t7")
    parser.add_argument("--tested", default="5-9", help="seeds whose test messages are looked for")
    parser.add_argument("--tuned", default="100-103", help="seeds that settings were chosen on")
    parser.add_argument("--seen", default="0-4", help="seeds whose results were seen meanwhile")
    asked = parser.parse_args()
    messages = read_experiment_data(asked.dataset).messages
    tested, tuned, seen = map(read_seeds, (asked.tested, asked.tuned, asked.seen))
    print(f"{asked.dataset}: test messages of seeds {asked.tested} that were validation or test")
    print("messages of other seeds (a message that several seeds test counts once for each)")
    for name, seeds in (
        (f"seeds {asked.tuned}", tuned),
        (f"seeds {asked.tuned} and {asked.seen}", [*tuned, *seen]),
    ):
        found = overlap(messages, tested, seeds)
        print(f"{name}: {share(found):.1%} of all {found['tested'].sum()}")
        for event, size, count, known in found.sort("size").head(SMALLEST).iter_rows():
            print(f"  {known / count:.1%} of the {count} of {event} ({size} messages)")


def overlap(messages: pl.DataFrame, tested: Sequence[int], others: Sequence[int]) -> pl.DataFrame:
    """Return for each event its size, how many messages are tested, and how many others drew."""
    known = pl.concat([drawn(messages, seed, LOOKED_AT) for seed in others])["id"].unique()
    rows = pl.concat([drawn(messages, seed, ("test",)) for seed in tested])
    found = rows.group_by("event").agg(
        tested=pl.len(), known=pl.col("id").is_in(known.implode()).sum()
    )
    sizes = messages.group_by("event").agg(size=pl.len())
    return found.join(sizes, on="event").select("event", "size", "tested", "known").sort("event")


def drawn(messages: pl.DataFrame, seed: int, parts: Sequence[str]) -> pl.DataFrame:
    """Return id and event of the messages that a seed's random split puts into these parts."""
    split = split_messages(messages, "random", seed)
    return split.filter(pl.col("split").is_in(parts)).select("id", "event")


def share(found: pl.DataFrame) -> float:
    """Return the share of all tested messages that the other seeds drew."""
    return float(found["known"].sum() / found["tested"].sum())


if __name__ == "__main__":
    main()
