"""``eventide labels``: labels worth a second look."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from eventide.cli.assign_checks import checked_output
from eventide.cli.console import page_console, print_json, say, show
from eventide.cli.exits import stoppable
from eventide.cli.options import AllowDownload, ModelPath, Overwrite, SaltFile, Sources
from eventide.cli.reading import Reading, reads_messages
from eventide.progress import step
from eventide.reports.terminal_table import plain_table
from eventide.safe_text import safe

SHOWN = 20


@reads_messages
def labels(
    model: ModelPath,
    sources: Sources,
    reading: Reading,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write the ranking here (.csv, .jsonl, .parquet or .xlsx)."
        ),
    ] = None,
    overwrite: Overwrite = False,
    most: Annotated[
        int | None, typer.Option(metavar="N", help="Keep the N most suspect labels.", min=1)
    ] = None,
    salt_file: SaltFile = None,
    allow_download: AllowDownload = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print every label as a line of JSON.")
    ] = False,
) -> None:
    """Rank labels that may be wrong, the most suspect first, with the reason.

    Probabilities are cross-fitted on the messages given: no message's own label speaks for it.

    Example: eventide labels model labelled.csv --out review.csv --most 100
    """
    from eventide.model import load_model
    from eventide.model.label_check import check_labels
    from eventide.reports.opinion_files import printable, write_opinions

    with stoppable("nothing was written"):
        target = checked_output(out, overwrite, [*reading.check(sources), model], reading.rejected)
        loaded = load_model(model, allow_download=allow_download, salt_file=salt_file)
        intake = reading.read_for(loaded, sources)
        with step(f"checking the labels of {len(intake.messages):,} messages"):
            found = check_labels(loaded, intake)
        texts = intake.messages.select("id", "text")
        ranked = found.join(texts, on="id", how="left", maintain_order="left")
        kept = ranked if most is None else ranked.head(most)
        if target is not None:
            write_opinions(kept, target)
    if as_json:
        print_json(printable(kept).write_ndjson())
        return
    console = page_console()
    table = plain_table("Labels worth a second look")
    table.expand = True
    for name in ("event", "suggested"):
        table.add_column(name, no_wrap=True, max_width=max(10, console.width // 4))
    table.add_column("suspicion", justify="right", no_wrap=True)
    table.add_column("text", no_wrap=True, ratio=1)
    for row in kept.filter(kept["suspect"]).head(most or SHOWN).iter_rows(named=True):
        figures = f"{row['suspicion']:.2f}"
        text = safe(row["text"], console.width)
        table.add_row(safe(row["event"]), safe(row["suggested"]), figures, text)
    suspects = int(ranked["suspect"].sum())
    if suspects:
        show(table, console)
        say()
    say(f"{suspects:,} of {len(ranked):,} labels are suspect")
    if target is not None:
        say(f"{len(kept):,} labels: {target}")
