"""The file of runs: a line is appended when a run ends, and never touched again."""

from __future__ import annotations

import os
from pathlib import Path

from pydantic import ValidationError

from eventide.comparison.rows import Run
from eventide.outputs import writing

BEGINNING = b'{"key":'
"""How every line of ours begins."""


class Ledger:
    """One JSON line per run. A line that a kill cut short counts as not there."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> tuple[list[Run], int]:
        """Return the runs in order, and how many lines could not be read."""
        if not self.path.exists():
            return [], 0
        found, damaged = [], 0
        for line in self.path.read_bytes().splitlines():
            if not line.strip():
                continue
            try:
                found.append(Run.model_validate_json(line))
            except ValidationError:
                damaged += 1
        return found, damaged

    def is_ours(self) -> bool:
        """Tell whether the file, if there is one, begins like a file of runs."""
        if not self.path.exists():
            return True
        with self.path.open("rb") as file:
            start = file.read(len(BEGINNING))
        return BEGINNING.startswith(start)

    def append(self, run: Run) -> None:
        """Add a line in one write and wait until it is on the disk."""
        line = run.model_dump_json().encode() + b"\n"
        with writing(self.path, "the runs"):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("ab+", buffering=0) as file:
                if self._cut_short(file.fileno()):
                    line = b"\n" + line
                file.write(line)
                os.fsync(file.fileno())

    def _cut_short(self, file: int) -> bool:
        """Tell whether the last line lacks its end, so that the next one must not continue it."""
        size = os.fstat(file).st_size
        os.lseek(file, max(0, size - 1), os.SEEK_SET)
        return size > 0 and os.read(file, 1) != b"\n"
