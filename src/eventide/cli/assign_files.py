"""``eventide assign`` to a folder: many files, partition by partition, here or on Ray."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import typer

from eventide.cli.console import note, print_json, say
from eventide.cli.exits import STOPPED
from eventide.cli.reading import Reading
from eventide.errors import BadSetting
from eventide.progress import duration, heartbeat

if TYPE_CHECKING:
    from eventide.cluster.assigner import AssignmentRequest, PartFacts
    from eventide.cluster.assignment import AssignmentSummary, Engine
    from eventide.cluster.ray_session import RayOptions
    from eventide.model import EventClassifier

NOTES = 10
"""Notes of parts that are shown; there may be one of every part."""


def wants_folder(out: Path | None) -> bool:
    """Say whether ``--out`` names a folder: it has no suffix.

    >>> wants_folder(Path("opinions")), wants_folder(Path("opinions.csv")), wants_folder(None)
    (True, False, False)
    """
    return out is not None and not out.suffix


def check_no_engine(engine: str | None, workers: int | None) -> None:
    """Refuse options that only a folder of parts has a use for."""
    if engine is not None or workers is not None:
        raise BadSetting(
            "--engine and --workers need a folder to write to",
            next_step="name a folder, without a suffix: --out opinions",
        )


@dataclass(frozen=True)
class FolderRequest:
    """The options of ``eventide assign`` that a folder of parts is made with."""

    model: Path
    sources: list[str]
    out: Path
    reading: Reading
    overwrite: bool
    with_text: bool
    file_only: tuple[str, ...]
    """Options that were given and that only a single file can have."""
    threshold: float | None
    as_new: bool
    salt_file: Path | None
    allow_download: bool
    as_json: bool
    workers: int | None
    ray: RayOptions | None

    def answer(self) -> None:
        """Assign all files, and say how it went."""
        if self.file_only:
            raise BadSetting(
                f"{', '.join(self.file_only)} cannot be had in a folder of parts",
                next_step="name a file: --out review.csv; or choose by --threshold D",
            )
        engine = None if self.ray is None else ray_engine(self.ray, self.workers)
        from eventide.cluster.assignment import assign_files, check_parts_folder, rejected_rows
        from eventide.cluster.partitions import files_of
        from eventide.outputs import check_file
        from eventide.runtime.cores import usable_cores

        own = self.out.expanduser().absolute()
        check_parts_folder(own)  # before anything is read
        folders = [Path(each).expanduser().absolute() for each in self.sources]
        files = files_of(self.sources)
        if own not in folders:  # parts of an earlier run below the inputs are no inputs
            files = [each for each in files if own not in each.absolute().parents]
        self.reading.check(self.sources)
        check_file(self.out / "assignment.json", overwrite=True, inputs=[*files, self.model])
        request, model = self._request(files)
        workers = self.workers or usable_cores()
        try:
            with part_lines() as watch:
                summary = assign_files(
                    request,
                    engine=engine,
                    workers=workers,
                    overwrite=self.overwrite,
                    allow_rejected=self.reading.allow_rejected,
                    model=model if workers == 1 else None,
                    watch=watch,
                )
        except KeyboardInterrupt:
            say(f"stopped; the same command goes on with the parts in {self.out}", err=True)
            raise typer.Exit(STOPPED) from None
        if self.reading.rejected is not None:
            from eventide.data.intake import Intake

            rejected = rejected_rows(request)
            Intake(rejected, rejected, len(rejected)).write_rejected(
                self.reading.rejected.expanduser()
            )
        show_summary(summary, as_json=self.as_json)

    def _request(self, files: list[Path]) -> tuple[AssignmentRequest, EventClassifier]:
        from eventide.cluster.assigner import AssignmentRequest
        from eventide.cluster.partitions import PARTITION_ROWS, FileReading
        from eventide.model import load_model

        model = load_model(self.model, allow_download=self.allow_download, salt_file=self.salt_file)
        reading = FileReading(
            self.reading.columns(),
            dict(model.columns or {}),
            tuple(model.list_columns()),
            self.reading.time_format,
            self.reading.day_first,
            self.reading.encoding,
        )
        request = AssignmentRequest(
            model=str(self.model.expanduser().absolute()),
            out=str(self.out.expanduser().absolute()),
            files=tuple(str(each.absolute()) for each in files),
            reading=reading,
            rows=PARTITION_ROWS,
            strict=self.reading.strict,
            as_new=self.as_new,
            with_text=self.with_text,
            threshold=self.threshold,
            allow_download=self.allow_download,
            salt_file=None if self.salt_file is None else str(self.salt_file.expanduser()),
        )
        return request, model


def ray_engine(options: RayOptions, workers: int | None) -> Engine:
    """Return the engine that does partitions on Ray, connected when it begins."""
    from eventide.cluster.ray_assignment import ray_assignment

    return ray_assignment(options, workers)


@contextmanager
def part_lines() -> Iterator[Callable[[PartFacts], None]]:
    """Give a function to call with every part: a line now and then says how far it is."""
    done = [0, 0]
    started = perf_counter()

    def line() -> str:
        spent = perf_counter() - started
        rate = done[1] / spent if spent else 0
        return (
            f"assigning: {done[1]:,} messages in {done[0]:,} parts, {rate:,.0f} a second "
            f"({duration(spent)} so far)"
        )

    def watch(part: PartFacts) -> None:
        done[0], done[1] = done[0] + 1, done[1] + part.messages

    with heartbeat(line):
        yield watch


def show_summary(summary: AssignmentSummary, *, as_json: bool) -> None:
    """Say what was assigned, what was not, and where everything is."""
    from eventide.cli.assign_summary import show_counts

    for each in summary.notes[:NOTES]:
        note(each, err=True)
    if len(summary.notes) > NOTES:
        note(f"{len(summary.notes) - NOTES:,} more notes on single parts", err=True)
    if summary.repeated_ids:
        note(f"{summary.repeated_ids:,} messages have an id that a message before them has")
    if as_json:
        print_json(summary.plain())
        return
    show_counts(summary.events)
    if summary.kept:
        say(f"{summary.kept:,} of {summary.parts:,} parts were finished before and kept")
    if summary.rejected:
        rows = "row" if summary.rejected == 1 else "rows"
        say(f"{summary.rejected:,} {rows} quarantined: {summary.out / '_rejected'}")
    say(
        f"{summary.written:,} opinions in {summary.parts:,} Parquet files "
        f"({duration(summary.seconds)}): {summary.out}"
    )
