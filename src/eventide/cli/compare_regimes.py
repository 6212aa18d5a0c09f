"""``eventide compare --regimes`` and ``--from-log``: methods side by side in several regimes."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from eventide.cli.comparison_output import (
    complain,
    run_bar,
    show_tables,
    table_width,
    write_comparison,
)
from eventide.cli.console import command, print_json, say
from eventide.cli.engines import runner_of
from eventide.cli.options import changed_settings
from eventide.cli.report import show_page
from eventide.errors import BadSetting

if TYPE_CHECKING:
    from eventide.cli.reading import Reading
    from eventide.cluster.ray_session import RayOptions
    from eventide.experiments.regime_results import RegimeResults
    from eventide.reports.tables.regime_files import RegimeReport


@dataclass(frozen=True)
class RegimeRequest:
    """The options of ``compare`` where regimes are asked for; None was not given."""

    source: str
    regimes: str | None
    tuning: bool
    methods: str | None
    seeds: Sequence[int]
    split: str | None
    protocol: str | None
    preset: str
    encoder: str | None
    entities: str
    change: list[str] | None
    reference: str | None
    out: Path | None
    workers: int | None
    report: Path | None
    as_json: bool
    ray: RayOptions | None = None

    def answer(self, reading: Reading, from_log: Path | None) -> None:
        """Run what is asked, or read a log; then print and write the tables."""
        for option, given in (("--split", self.split), ("--protocol", self.protocol)):
            if given is not None:
                raise BadSetting(
                    f"{option} cannot be given with regimes: each has its own",
                    next_step=f"leave {option} out, or --regimes",
                )
        if from_log is not None:
            self._from_log(from_log)
        elif self.regimes is None:
            raise BadSetting(
                "--tuning says which messages regimes are tested on, and there is none",
                next_step="add --regimes all",
            )
        else:
            self._run(reading, self.regimes)

    def _run(self, reading: Reading, regimes: str) -> None:
        from eventide.experiments import choose, read_experiment_data
        from eventide.experiments.engine import compare_regimes
        from eventide.experiments.jobs import check_request, check_runs_folder
        from eventide.experiments.prepared import data_name, needed_lists
        from eventide.experiments.regimes import regime_names
        from eventide.features.encoders import DEFAULT_ENCODER
        from eventide.reports.tables.regime_files import check_regime_files
        from eventide.reports.tables.significance_table import chosen_reference

        choice, name = choose(self.methods or "long-tail"), data_name(self.source)
        names = regime_names(regimes)
        reference = chosen_reference([each.name for each in choice.variants], self.reference)
        changes = changed_settings(self.change or [])
        asked: dict[str, Any] = {
            "preset": self.preset,
            "encoder": self.encoder or DEFAULT_ENCODER,
            "entities": self.entities,
            "changes": {key.replace("__", "."): value for key, value in changes.items()},
            "workers": self.workers,
        }
        check_request(choice.variants, self.seeds, **asked)
        asked |= runner_of(self.ray, self.workers)
        folder = check_runs_folder(self.out or Path(f"comparison-{name}"), inputs=[self.source])
        replaced = check_regime_files(folder, inputs=[self.source])
        intake = reading.read(self.source, lists=needed_lists(choice.variants))
        data = read_experiment_data(intake, choice.variants, entities=self.entities, name=name)
        try:
            with run_bar() as watch:
                results = compare_regimes(
                    data,
                    choice.variants,
                    self.seeds,
                    names,
                    out=folder,
                    tuning=self.tuning,
                    watch=lambda regime, step: watch(step, regime),
                    **asked,
                )
        except KeyboardInterrupt:
            say(f"stopped; the same command goes on with what is in {folder}", err=True)
            raise typer.Exit(1) from None
        events = sorted(set(data.messages["event"].drop_nulls().to_list()))
        self._report(results, folder, reference, choice.notes, replaced, events)
        if results.failures:
            complain(results)
            raise typer.Exit(1)

    def _from_log(self, log: Path) -> None:
        from eventide.experiments.prepared import data_name
        from eventide.experiments.regime_results import results_from_log
        from eventide.reports.tables.regime_files import check_regime_files

        results = results_from_log(
            log,
            None if self.regimes in (None, "all") else _words(self.regimes),
            None if self.methods is None else _words(self.methods),
            dataset=data_name(self.source),
            tuning=self.tuning or None,
        )
        folder = (self.out or log.parent).expanduser()
        replaced = check_regime_files(folder, inputs=[log])
        # Failed runs stand on the page; whoever only reads a log has nothing to try again.
        self._report(results, folder, self.reference, (), replaced)

    def _report(
        self,
        results: RegimeResults,
        folder: Path,
        reference: str | None,
        notes: Sequence[str],
        replaced: bool,
        events: Sequence[str] = (),
    ) -> None:
        from eventide.reports.tables.regime_files import (
            RegimeReport,
            regimes_as_data,
            write_regime_tables,
        )

        report = RegimeReport.of(results, reference, notes, command(*sys.argv[1:]))
        written = write_regime_tables(report, folder)
        if self.report is not None:
            write_comparison(
                results,
                self.report,
                reference=report.reference,
                tables=report.tables(),
                notes=notes,
                winners=report.winners,
                events=events,
            )
        if self.as_json:
            print_json(regimes_as_data(report))
            return
        _show(report)
        say(f"runs:   {results.path}\ntables: {written[0]}, and each as .md .tex .csv")
        say(f"figure: {written[-2]}, {written[-1].name}")
        if self.report is not None:
            show_page(self.report)
        if replaced:
            say("note: the tables of earlier regimes in this folder were replaced")


def _show(report: RegimeReport) -> None:
    show_tables(report.shown(table_width()), ())
    say("who wins where:")
    for line in report.winners:
        say(f"  {line}")
    for note in dict.fromkeys([*report.notes, *report.results.notes]):
        say(f"note: {note}")


def _words(text: str | None) -> list[str]:
    return [word.strip() for word in (text or "").split(",") if word.strip()]
