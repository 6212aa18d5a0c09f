"""The paper's table of view quality, counted without edges, beside the paper's own figures.

python benchmarks/edge_purity.py CHECKOUT    (a checkout of the public CrisisLex collection)
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import polars as pl

from eventide.data.datasets import crisislex_lt28, crisislex_t7
from eventide.features.elements import with_elements
from eventide.graphs.purity import edge_facts

PAPER = {"hashtag": 0.8778, "entity": 0.9257, "user": 0.8707, "all": 0.9121}
WHY = (
    "The paper does not say how it finds elements, and ours differ: hashtags, links and mentions "
    "are read from\nthe text (links count in the hashtag view), entities are found by rules that "
    "know no language model."
)


def table(title: str, messages: pl.DataFrame, paper: dict[str, float]) -> None:
    """Print edges and purity of every view, and how long counting took."""
    messages = with_elements(messages)
    start = time.process_time()
    facts = edge_facts(messages)
    spent = time.process_time() - start
    print(f"{title}: {len(messages):,} messages, counted in {spent:.2f} s of processor time")
    print(f"{'view':10}{'edges':>14}{'same event':>14}{'purity':>10}{'paper':>10}")
    for each in facts:
        purity = "-" if each.purity is None else f"{each.purity:.4f}"
        beside = f"{paper[each.view]:.4f}" if each.view in paper else "-"
        print(f"{each.view:10}{each.edges:14,}{each.same:14,}{purity:>10}{beside:>10}")


def main() -> None:
    """Count both data sets."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkout", type=Path)
    asked = parser.parse_args()
    table("crisislex-t7", crisislex_t7.collect(asked.checkout).messages, PAPER)
    print(WHY)
    table("crisislex-lt28", crisislex_lt28.collect(asked.checkout).messages, {})


if __name__ == "__main__":
    main()
