"""``eventide compare``: methods side by side, over seeds, with tables and significance."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from eventide.cli.comparison_output import complain, run_bar, show_tables, write_comparison
from eventide.cli.console import print_json, say
from eventide.cli.engines import (
    Engine,
    ObjectStore,
    RayAddress,
    WorkerCpus,
    WorkerMemory,
    ray_options,
    runner_of,
)
from eventide.cli.options import (
    AsJson,
    ChangeForAll,
    Entities,
    Preset,
    Source,
    Workers,
    changed_settings,
)
from eventide.cli.reading import Reading, reads_messages
from eventide.cli.report import checked_page, show_page
from eventide.errors import BadSetting


@reads_messages
def compare(
    source: Source,
    reading: Reading,
    methods: Annotated[
        str | None,
        typer.Option(
            show_default="long-tail",
            help="Methods, variants (ucl-ec+cb) and groups, joined by commas: long-tail, "
            "event-detection, baselines, all, ablation, ablation-grid, controls, parts, "
            "fusions, prototypes.",
        ),
    ] = None,
    seeds: Annotated[
        str,
        typer.Option(
            help="How many (10 is 0 to 9), a range (100-104) or a list (3,5). A seed sets split "
            "and initialisation, the same for every method."
        ),
    ] = "10",
    split: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="How the messages are split.", show_default="random"),
    ] = None,
    protocol: Annotated[
        str | None,
        typer.Option(help="transductive, or inductive, which a chronological split always is."),
    ] = None,
    regimes: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="Compare in several regimes, tested on locked messages: all, or names joined by "
            "commas (random, chronological, scarce-10, weak-vectors, corrupted-view-50, "
            "label-noise-10, unseen-event, duplicate-aware; other numbers too).",
        ),
    ] = None,
    tuning: Annotated[
        bool,
        typer.Option(
            "--tuning", help="With --regimes: leave locked messages out, so that you may choose."
        ),
    ] = False,
    from_log: Annotated[
        Path | None,
        typer.Option(
            metavar="RUNS",
            help="Run nothing: make the tables of regimes from this runs.jsonl or .jsonl.gz, in "
            "its folder unless --out says another.",
        ),
    ] = None,
    preset: Preset = "default",
    encoder: Annotated[
        str | None,
        typer.Option(
            help="wordllama, tfidf-svd, minilm, ...; joined with +. The regime weak-vectors has "
            "its own."
        ),
    ] = None,
    entities: Entities = "rules",
    change: ChangeForAll = None,
    reference: Annotated[
        str | None,
        typer.Option(
            metavar="METHOD",
            help="Reference method for the significance tests; by default ucl-sharp where it is "
            "compared, else ucl-ec+cb, ucl-ec, ucl+cb or ucl, else the first method.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for runs and tables, comparison-NAME by default; runs in it are not done "
            "again, tables in it are replaced."
        ),
    ] = None,
    workers: Workers = None,
    report: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write a page with charts here too (.html); it is replaced."
        ),
    ] = None,
    as_json: AsJson = False,
    engine: Engine = None,
    ray_address: RayAddress = None,
    worker_cpus: WorkerCpus = 1.0,
    worker_memory: WorkerMemory = None,
    object_store: ObjectStore = None,
) -> None:
    """Run methods side by side and print tables: accuracy, F1, NMI, AMI, ARI, significance, times.

    Every finished run is kept: the same command goes on where it was stopped. After a change of the
    code the runs are done again.

    Example: eventide compare crisislex-t7 --methods ucl-sharp,ucl-ec,ce --seeds 3

    Example: eventide compare crisislex-t7 --methods long-tail --out results

    Example: eventide compare messages.jsonl --methods controls --split chronological

    Example: eventide compare crisislex-lt28 --regimes all --methods ucl-sharp,ce --seeds 10

    Example: eventide compare crisislex-lt28 --from-log results/runs.jsonl.gz
    """
    ray = ray_options(engine, ray_address, worker_cpus, worker_memory, object_store)
    if regimes is not None or from_log is not None or tuning:
        from eventide.cli.compare_regimes import RegimeRequest

        RegimeRequest(
            source=source,
            regimes=regimes,
            tuning=tuning,
            methods=methods,
            seeds=read_seeds(seeds),
            split=split,
            protocol=protocol,
            preset=preset,
            encoder=encoder,
            entities=entities,
            change=change,
            reference=reference,
            out=out,
            workers=workers,
            report=None if report is None else checked_page(report, [source], overwrite=True),
            as_json=as_json,
            ray=ray,
        ).answer(reading, from_log)
        return
    page = None if report is None else checked_page(report, [source], overwrite=True)
    chosen_seeds = read_seeds(seeds)
    changes = {
        name.replace("__", "."): value for name, value in changed_settings(change or []).items()
    }
    from eventide.experiments import choose, read_experiment_data
    from eventide.experiments import compare as run_all
    from eventide.experiments.jobs import check_request, check_runs_folder
    from eventide.experiments.prepared import data_name, needed_lists
    from eventide.experiments.regime_results import RegimeResults
    from eventide.features.encoders import DEFAULT_ENCODER
    from eventide.reports.tables.collection import collect
    from eventide.reports.tables.significance_table import chosen_reference
    from eventide.reports.tables.table_files import as_data, check_tables, write_tables

    choice, name = choose(methods or "long-tail"), data_name(source)
    reference = chosen_reference([each.name for each in choice.variants], reference)
    asked: dict[str, Any] = {
        "split": split or "random",
        "protocol": protocol,
        "preset": preset,
        "encoder": encoder or DEFAULT_ENCODER,
        "changes": changes,
        "workers": workers,
    }
    check_request(choice.variants, chosen_seeds, entities=entities, **asked)
    asked |= runner_of(ray, workers)
    folder = check_runs_folder(out or Path(f"comparison-{name}"), inputs=[source])
    replaced = check_tables(folder, inputs=[source])
    intake = reading.read(source, lists=needed_lists(choice.variants))
    data = read_experiment_data(intake, choice.variants, entities=entities, name=name)
    try:
        with run_bar() as watch:
            results = run_all(data, choice.variants, chosen_seeds, out=folder, watch=watch, **asked)
    except KeyboardInterrupt:
        say(f"stopped; the same command goes on with what is in {folder}", err=True)
        raise typer.Exit(1) from None
    tables = collect(results, choice.groups, data=data, reference=reference)
    written = write_tables(results, tables, folder)
    if page is not None:
        write_comparison(
            RegimeResults({results.plan.split: results}),
            page,
            reference=reference,
            tables=tables,
            notes=choice.notes,
            events=sorted(set(data.messages["event"].drop_nulls().to_list())),
        )
    if as_json:
        print_json(as_data(results, choice.notes, reference))
    else:
        show_tables(tables, [*choice.notes, *results.notes])
        say(f"runs:   {results.path}\ntables: {written[0]}, and each as .md .tex .csv")
        if page is not None:
            show_page(page)
        if replaced:
            say("note: the tables of an earlier comparison in this folder were replaced")
    if results.failures:
        complain(results)
        raise typer.Exit(1)


def read_seeds(text: str) -> list[int]:
    """Read ``--seeds``: how many, a range, or a list.

    >>> read_seeds("3"), read_seeds("100-102"), read_seeds("4,7")
    ([0, 1, 2], [100, 101, 102], [4, 7])
    """
    try:
        if "," in text:
            found = [int(part) for part in text.split(",") if part.strip()]
        elif "-" in text:
            first, _, last = text.partition("-")
            found = list(range(int(first), int(last) + 1))
        else:
            found = list(range(int(text)))
    except ValueError:
        found = []
    if not found or min(found) < 0:
        raise BadSetting(
            f"--seeds {text!r} names no seed",
            next_step="write how many (10), a range (100-104) or a list (3,5)",
        )
    return found
