"""Which files a user means: a path, a pattern, the name of a dataset, ``-``, or a list of them."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from eventide.data.readers.sniffing import kind_of_name
from eventide.errors import UnreadableSource

STANDARD_INPUT = "-"
LONGEST_PATH = 4096


def paths_of(source: str | os.PathLike[str]) -> list[Path]:
    """Take an existing path as it is; other names may be patterns or built datasets."""
    path = Path(source).expanduser()
    if str(source) == STANDARD_INPUT or _exists(path):
        return [path]
    if glob.has_magic(str(path)):
        matches = sorted(Path(name) for name in glob.glob(str(path), recursive=True))
        files = [match for match in matches if match.is_file()]
        if not files:
            raise UnreadableSource(
                "no file matches the pattern", where=str(path), next_step="check the pattern"
            )
        return files
    if isinstance(source, str) and path.name == source and not path.suffix:
        from eventide.data.datasets import registered_path

        registered: Path | None = registered_path(source)
        if registered is not None:
            return [registered]
        raise UnreadableSource(
            f"no file and no built dataset is called {source!r}",
            next_step="check the spelling, or see `eventide data list` for the datasets;"
            " a text goes into a list: [text]",
        )
    raise UnreadableSource("there is no such file", where=str(path), next_step="check the path")


def are_paths(source: Any) -> bool:
    """Tell a list of files from a list of texts: `Path` objects, or strings that are all files.

    If some of the strings are files and others are not, nobody means texts.
    """
    if not isinstance(source, Sequence) or not source:
        return False
    if any(isinstance(each, os.PathLike) for each in source):
        return all(isinstance(each, (str, os.PathLike)) for each in source)
    if not isinstance(source[0], str) or not all(isinstance(each, str) for each in source):
        return False
    if not any(_looks_like_a_file(each) for each in (source[0], source[-1])):
        return False
    there = [each for each in source if _is_file(each)]
    lost = [each for each in source if not _is_file(each)]
    if lost and (there or all(map(_looks_like_a_file, source))):
        raise UnreadableSource(
            "there is no such file"
            if len(lost) == 1
            else f"{len(lost)} of the files are not there",
            where=lost[0],
            next_step="check the paths; texts that are meant as texts go into dicts: {'text': ...}",
        )
    return not lost


def _looks_like_a_file(text: str) -> bool:
    return _is_file(text) or (not any(map(str.isspace, text)) and bool(kind_of_name(Path(text))))


def _is_file(text: str) -> bool:
    """Tell whether there is such a file, or one that matches the pattern."""
    if len(text) >= LONGEST_PATH:
        return False
    try:
        path = Path(text).expanduser()
        return path.is_file() or (glob.has_magic(text) and any(glob.iglob(str(path))))
    except (OSError, ValueError, RuntimeError, re.error):
        return False


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        raise UnreadableSource(
            "not a usable path", where=ascii(str(path))[:200], next_step="check the path"
        ) from None
