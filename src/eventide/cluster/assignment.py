"""Assigns events to whole folders of files: partitions in, Parquet parts out, resumable."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import Any

import polars as pl

from eventide.cluster.assigner import (
    REJECTED_FOLDER,
    AssignmentRequest,
    PartFacts,
    part_path,
    read_facts,
)
from eventide.cluster.local_engine import assign_locally
from eventide.cluster.partitions import Partition, partitions
from eventide.data.intake import Intake
from eventide.data.schema import REJECTED
from eventide.errors import OutputError
from eventide.model import EventClassifier
from eventide.outputs import check_room, reserved
from eventide.storage import atomic_file, expanded

PLAN = "assignment.json"
BYTES_PER_MESSAGE = 100
Watch = Callable[[PartFacts], None]
Engine = Callable[[AssignmentRequest, frozenset[str]], Generator[PartFacts]]
"""From what is asked, and the names of finished partitions, to the facts of each new part."""


@dataclass(frozen=True)
class AssignmentSummary:
    """How an assignment ended; ``kept`` parts were finished by an earlier run."""

    out: Path
    parts: int
    kept: int
    messages: int
    written: int
    rejected: int
    seconds: float
    events: pl.DataFrame
    repeated_ids: int
    notes: tuple[str, ...]

    def plain(self) -> dict[str, Any]:
        """Return it as values of JSON."""
        whole = {name: value for name, value in vars(self).items() if name != "events"}
        return whole | {"out": str(self.out), "events": self.events.to_dicts()}


def is_assignment(folder: Path) -> bool:
    """Say whether a folder holds an assignment, finished or not."""
    return (folder / PLAN).is_file()


def assign_files(
    request: AssignmentRequest,
    *,
    engine: Engine | None = None,
    workers: int = 1,
    overwrite: bool = False,
    allow_rejected: bool = False,
    model: EventClassifier | None = None,
    watch: Watch = lambda _: None,
) -> AssignmentSummary:
    """Assign the messages of all files to parts in ``request.out`` and say how it went.

    Parts that an earlier run with the same model, files and options finished are kept. A file that
    was mended since is done again, unless the earlier run came to its end. Without an ``engine``
    the work is done by ``workers`` processes of this machine.
    """
    out = expanded(request.out).absolute()
    request = replace(request, out=str(out))
    started = time.perf_counter()
    with reserved(out):
        _settle(out, request, overwrite=overwrite)
        kept = {each.stem.removeprefix("part-") for each in out.glob("part-*.parquet")}
        facts = {name: read_facts(part_path(out, name)) for name in sorted(kept)}
        if not _finished(out):
            size = sum(Path(each).stat().st_size for each in request.files)
            check_room(out, size // 1000 * BYTES_PER_MESSAGE)
            do = engine or (lambda asked, done: _locally(asked, done, workers, model))
            with closing(do(request, frozenset(kept))) as ended:
                for each in ended:
                    facts[each.name] = each
                    watch(each)
        _check_rejected(request, facts, allow=allow_rejected)
        _write_plan(out, request, finished=True)
        return _summary(out, facts, len(kept), time.perf_counter() - started)


def rejected_rows(request: AssignmentRequest) -> pl.DataFrame:
    """Return the quarantined rows of all parts, in the order of the files."""
    folder = expanded(request.out) / REJECTED_FOLDER
    found = [pl.read_parquet(each) for each in sorted(folder.glob("part-*.parquet"))]
    empty = pl.DataFrame(schema={"file": pl.String, **REJECTED})
    return pl.concat([empty, *found], how="diagonal")


def _locally(
    request: AssignmentRequest,
    done: frozenset[str],
    workers: int,
    model: EventClassifier | None,
) -> Generator[PartFacts]:
    return assign_locally(all_partitions(request, done), request, workers, model)


def all_partitions(request: AssignmentRequest, done: frozenset[str]) -> Iterator[Partition]:
    """Yield the partitions of all files that are not ``done``; one after the other is read."""
    return chain.from_iterable(
        partitions(Path(file), part, request.reading, request.rows, done)
        for part, file in enumerate(request.files)
    )


def check_parts_folder(out: Path) -> None:
    """Refuse a file, or a folder with anything but an assignment."""
    if not out.exists():
        return
    if not out.is_dir():
        raise OutputError(
            "a file, where a folder is to be written", where=str(out), next_step="name a folder"
        )
    others = sorted(each.name for each in out.iterdir() if not each.name.startswith("."))
    if others and not is_assignment(out):  # parts too: another program may have made them
        raise OutputError(
            f"the folder holds something else: {others[0]}",
            where=str(out),
            next_step="choose an empty or new folder",
        )


def _settle(out: Path, request: AssignmentRequest, *, overwrite: bool) -> None:
    """Make the folder ready: a new one, or one with parts of the same assignment."""
    check_parts_folder(out)
    if out.exists():
        plan = _read_plan(out)
        changed = _changed(plan, request)
        if overwrite and is_assignment(out):
            _replace_plan(out, {})  # first: whoever is stopped here leaves nothing to go on with
            _clear(out)
            _write_plan(out, request, finished=False)
        elif is_assignment(out) and (
            plan.get("signature") != _signature(request) or (changed and plan.get("finished"))
        ):
            raise OutputError(
                "the folder holds another assignment: the model, the files or the options were "
                "others",
                where=str(out),
                next_step="choose another folder, or replace it: --overwrite",
            )
        elif changed:
            for number in changed:
                _clear(out, f"part-{number:05}-*.parquet")
            _write_plan(out, request, finished=False)
        for left in [*out.glob(".part-*"), *(out / REJECTED_FOLDER).glob(".part-*")]:
            with suppress(OSError):  # of a worker that was killed while it wrote
                left.unlink()
    if not is_assignment(out):
        _write_plan(out, request, finished=False)


def _clear(out: Path, parts: str = "part-*.parquet") -> None:
    """Remove parts, and their quarantined rows."""
    for part in [*out.glob(parts), *(out / REJECTED_FOLDER).glob(parts)]:
        part.unlink()
    with suppress(OSError):  # not empty, or not there
        (out / REJECTED_FOLDER).rmdir()


def _changed(plan: dict[str, Any], request: AssignmentRequest) -> list[int]:
    """List the files that are not as they were, by their number."""
    return [
        number
        for number, (then, now) in enumerate(
            zip(plan.get("files", []), _states(request), strict=False)
        )
        if then != now
    ]


def _states(request: AssignmentRequest) -> list[list[int]]:
    """Return size and time of each file."""
    found = (Path(each).stat() for each in request.files)
    return [[each.st_size, each.st_mtime_ns] for each in found]


def _signature(request: AssignmentRequest) -> str:
    """Name the work: the model's files, the names of the inputs, and every option."""
    asked = asdict(request)
    for place in ("model", "out", "salt_file"):
        del asked[place]
    manifest = (expanded(request.model) / "manifest.json").read_bytes()
    asked["model"] = blake2b(manifest, digest_size=16).hexdigest()
    content = json.dumps(asked, sort_keys=True, default=list)
    return blake2b(content.encode(), digest_size=16).hexdigest()


def _read_plan(out: Path) -> dict[str, Any]:
    try:
        plan = json.loads((out / PLAN).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        plan = None
    return plan if isinstance(plan, dict) else {}


def _write_plan(out: Path, request: AssignmentRequest, *, finished: bool) -> None:
    _replace_plan(
        out, {"signature": _signature(request), "files": _states(request), "finished": finished}
    )


def _replace_plan(out: Path, plan: dict[str, Any]) -> None:
    with atomic_file(out / PLAN, "the assignment") as temporary:
        temporary.write_text(json.dumps(plan) + "\n", encoding="utf-8")


def _finished(out: Path) -> bool:
    return bool(_read_plan(out).get("finished"))


def _check_rejected(
    request: AssignmentRequest, facts: dict[str, PartFacts], *, allow: bool
) -> None:
    """Refuse an assignment of which more than half was quarantined, as of one file."""
    bad = sum(each.rejected for each in facts.values())
    good = sum(each.messages for each in facts.values())
    if bad and (not good or (bad > good and not allow)):
        nobody = pl.DataFrame({"id": [""]}).clear() if not good else pl.DataFrame({"id": ["one"]})
        where = f"{len(request.files)} files"
        Intake(nobody, rejected_rows(request), good + bad, where).check_rejected(allow=allow)


def _summary(
    out: Path, facts: dict[str, PartFacts], kept: int, seconds: float
) -> AssignmentSummary:
    total = {
        name: sum(getattr(each, name) for each in facts.values())
        for name in ("messages", "written", "rejected")
    }
    opinions = pl.scan_parquet([part_path(out, name) for name in sorted(facts)])
    events = (
        opinions.group_by("event")
        .agg(pl.len().alias("messages"), pl.col("doubt").mean())
        .sort("messages", "event", descending=[True, False])
        .collect(engine="streaming")
    )
    hashed = opinions.select(pl.col("id").hash()).collect(engine="streaming")["id"].sort()
    return AssignmentSummary(
        out=out,
        parts=len(facts),
        kept=kept,
        **total,
        seconds=seconds,
        events=events,
        repeated_ids=int((hashed == hashed.shift(1)).sum()),
        notes=tuple(dict.fromkeys(note for each in facts.values() for note in each.notes)),
    )
