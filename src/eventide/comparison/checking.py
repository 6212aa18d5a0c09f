"""What is asked for, checked before anything is read: names, settings, and the folder of runs."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from eventide.comparison.contestant import Contestant
from eventide.comparison.ledger import Ledger
from eventide.comparison.splitting import checked_protocol
from eventide.errors import BadSetting, OutputError
from eventide.features.elements import check_entities
from eventide.features.encoders import DEFAULT_ENCODER
from eventide.features.encoders import encoder as make_encoder
from eventide.outputs import check_file

RUNS = "runs.jsonl"


def check_request(
    contestants: Sequence[Contestant],
    seeds: Sequence[int],
    *,
    split: str = "random",
    protocol: str | None = None,
    preset: str = "default",
    encoder: str = DEFAULT_ENCODER,
    entities: str = "rules",
    changes: Mapping[str, Any] | None = None,
    workers: int | None = None,
) -> str:
    """Refuse what cannot be run, and return the protocol to use."""
    names = [each.name for each in contestants]
    twice = [name for name in names if names.count(name) > 1]
    if not names or not seeds:
        raise BadSetting(
            "a comparison needs at least one method and one seed",
            next_step="name methods (--methods) and seeds (--seeds)",
        )
    if twice:
        raise BadSetting(f"two contestants are called {twice[0]!r}", next_step="rename one")
    if min(seeds) < 0:
        raise BadSetting(
            f"a seed cannot be negative: {min(seeds)}", next_step="choose seeds from 0 on"
        )
    if workers is not None and workers < 1:
        raise BadSetting(
            f"there must be at least one worker, not {workers}", next_step="choose 1 or more"
        )
    protocol = checked_protocol(split, protocol)
    check_entities(entities)
    make_encoder(encoder)
    for each in contestants:
        if why := each.missing():
            raise BadSetting(
                f"{each.name!r} cannot run in this version: {why}",
                next_step="see: eventide methods",
            )
        each.settings(preset, changes or {})
    return protocol


def check_runs_folder(folder: Path | str, inputs: Sequence[Path | str] = ()) -> Path:
    """Return ``folder`` (``~`` expanded) if runs can be kept there, else raise `OutputError`.

    It may hold other things; a file ``runs.jsonl`` must be one of ours.
    """
    folder = Path(folder).expanduser()
    if folder.exists() and not folder.is_dir():
        raise OutputError(
            "a file, where a folder of runs is to be", where=str(folder), next_step="name a folder"
        )
    path = check_file(folder / RUNS, overwrite=True, inputs=inputs)
    if path.exists() and not os.access(path, os.R_OK | os.W_OK):
        raise OutputError(
            "the runs there may not be read and written",
            where=str(path),
            next_step="choose another folder",
        )
    if not Ledger(path).is_ours():
        raise OutputError(
            f"the folder holds a {RUNS} that is not of a comparison",
            where=str(path),
            next_step="choose another folder",
        )
    return folder
