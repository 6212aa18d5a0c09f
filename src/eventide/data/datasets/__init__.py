"""The registry of datasets that can be built, and the folder where built ones are registered."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from eventide.errors import UnreadableSource
from eventide.registry import Registry
from eventide.storage import atomic_file


def data_folder() -> Path:
    """Give the folder of the user's datasets: ``EVENTIDE_DATA``, or the platform's usual place."""
    chosen = os.environ.get("EVENTIDE_DATA")
    if chosen:
        return Path(chosen).expanduser()
    from platformdirs import user_data_path

    usual = user_data_path("eventide", appauthor=False)
    older = _older_folder()
    return older if older is not None and older.is_dir() and not usual.is_dir() else usual


def _older_folder() -> Path | None:
    """Give the place where earlier versions looked on macOS, whatever ``XDG_DATA_HOME`` says."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "eventide"
    return None


def register(name: str, path: Path) -> None:
    """Register the file at ``path`` as ``name`` for all commands; replaces an earlier entry."""
    with atomic_file(_entry(name)) as temporary:
        text = json.dumps({"name": name, "path": str(path.resolve())}, ensure_ascii=False)
        temporary.write_text(text, encoding="utf-8")


def registered_path(name: str) -> Path | None:
    """Find the file registered as ``name``; None if the name is not registered."""
    entry = _entry(name)
    # A path or an odd name is never registered, and must not reach other folders.
    if entry.parent.name != "registered" or not entry.is_file():
        return None
    try:
        path = Path(json.loads(entry.read_text(encoding="utf-8"))["path"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UnreadableSource(
            f"the register entry of {name!r} is damaged ({error})",
            where=str(entry),
            next_step=f"build it again: eventide data build {name} --from PATH",
        ) from None
    if not path.is_file():
        raise UnreadableSource(
            f"the dataset {name!r} was built, but its file is gone",
            where=str(path),
            next_step=f"build it again: eventide data build {name} --from PATH",
        )
    return path


def _entry(name: str) -> Path:
    safe = all(part.isalnum() for part in name.split("-")) and name.isascii()
    return data_folder() / ("registered" if safe else "unnamed") / f"{name if safe else '-'}.json"


__all__ = ["DATASETS", "register", "registered_path"]

DATASETS = Registry("dataset", plugins="eventide.datasets")
"""Name -> `eventide.data.datasets.dataset.Dataset`, imported when it is used."""

_HERE = "eventide.data.datasets"
DATASETS.add(
    "crisislex-t7",
    f"{_HERE}.crisislex_t7:DATASET",
    "the paper's CrisisLexT_7: 7 English crises, halving in size",
)
DATASETS.add(
    "crisislex-lt28",
    f"{_HERE}.crisislex_lt28:DATASET",
    "all of CrisisLexT26 and T6 as one long tail, in several languages",
)
DATASETS.add(
    "events2012-100",
    f"{_HERE}.events100:EVENTS2012",
    "the paper's Events2012_100: the 100 largest English events of 2012",
)
DATASETS.add(
    "events2018-100",
    f"{_HERE}.events100:EVENTS2018",
    "the paper's Events2018_100: the 100 largest French events of 2018",
)
