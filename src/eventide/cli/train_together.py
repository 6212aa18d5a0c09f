"""``eventide train --engine``: several workers train one model together."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from eventide.cli.console import command, note, print_json, say
from eventide.cli.engines import ray_options
from eventide.cli.options import one_of
from eventide.cli.report import show_page
from eventide.errors import BadSetting
from eventide.methods import DEFAULT_METHOD

if TYPE_CHECKING:
    from eventide.cluster.ray_session import RayOptions
    from eventide.data import Intake
    from eventide.model import EventClassifier


@dataclass(frozen=True)
class Together:
    """The options of a training by several workers; without an ``engine`` there is one."""

    engine: str | None
    workers: int | None
    ray: RayOptions | None

    @classmethod
    def of(
        cls,
        engine: str | None,
        workers: int | None,
        address: str | None,
        cpus: float,
        memory: int | None,
        object_store: int | None,
    ) -> Together:
        """Read the options, or say what is wrong with them."""
        if engine is None and workers is not None:
            raise BadSetting(
                "--workers needs an engine", next_step="add --engine torchrun, or --engine ray"
            )
        if engine is not None:
            one_of(engine, ["torchrun", "ray"], "--engine")
        asked = None if engine == "torchrun" else engine
        return cls(engine, workers, ray_options(asked, address, cpus, memory, object_store))

    @property
    def joins(self) -> bool:
        """Whether this process is itself one of the workers, started by torchrun."""
        return self.engine == "torchrun" and "TORCHELASTIC_RUN_ID" in os.environ

    @property
    def tells(self) -> bool:
        """Whether this process talks to people and writes: all do but later workers."""
        return not self.joins or os.environ.get("RANK", "0") == "0"

    def reserved(self, out: Path) -> AbstractContextManager[None]:
        """Hold the place of the model, unless another worker does."""
        from eventide.outputs import reserved

        return reserved(out) if self.tells else nullcontext()

    def train(
        self,
        model: EventClassifier,
        intake: Intake,
        out: Path,
        checkpoints: Path | None,
        checkpoint_every: int,
        *,
        keep_text: bool,
        salt: Path | None,
    ) -> None:
        """Train with the workers; the first one writes the model."""
        from eventide.cli.watching import watching
        from eventide.cluster.distributed import launch_ray, launch_torchrun, run_folder
        from eventide.cluster.train_worker import TrainingRequest, check_method, train_worker
        from eventide.runtime.cores import usable_cores

        check_method(model.method)
        request = TrainingRequest(
            folder="",
            parameters=model.plain_params(),
            out=str(out.absolute()),
            checkpoints=None if checkpoints is None else str(checkpoints.absolute()),
            checkpoint_every=checkpoint_every,
            keep_text=keep_text,
            salt_file=None if salt is None else str(salt.expanduser().absolute()),
        )
        if self.joins:
            train_worker(request, intake)
            return
        from dataclasses import replace

        workers = self.workers or usable_cores()
        with run_folder(out, intake) as folder, watching(model.settings().training.epochs) as watch:
            request = replace(request, folder=str(folder.absolute()))
            if self.ray is None:
                launch_torchrun(request, workers, watch)
            else:
                launch_ray(request, workers, self.ray, watch)

    def show(self, out: Path, intake: Intake, page: Path | None, *, as_json: bool) -> None:
        """Say what was learned, where it is, and what to do next."""
        from eventide.storage import read_bundle

        facts = read_bundle(out, "model").facts
        history, chosen, asked = facts["history"], facts["best_epoch"], facts["parameters"]
        best = history[chosen - 1]
        if as_json:
            print_trained(out, best, facts["notes"], intake, page)
            return
        for each in facts["notes"]:
            note(each)
        scores = ""
        if "validation_accuracy" in best:
            accuracy, f1 = best["validation_accuracy"], best["validation_f1"]
            scores = f": validation ACC {accuracy:.4f}, F1 {f1:.4f}"
        seconds = sum(row["seconds"] for row in history)
        say(
            f"{asked.get('method', DEFAULT_METHOD)} learned {len(facts['classes'])} events by "
            f"several workers in {seconds:.1f} s; epoch {chosen} of {len(history)} kept{scores}"
        )
        say(f"model: {out}")
        say(f"next:  {command('evaluate', out)} FILE   or   {command('assign', out)} NEW_MESSAGES")
        if page is not None:
            show_page(page)


def print_trained(
    out: Path, best: dict[str, float], notes: Sequence[str], intake: Intake, page: Path | None
) -> None:
    """Print for programs what was learned, from how many rows, and where everything is."""
    told = {"model": str(out), "best": best, "notes": notes}
    rows = {"messages": len(intake.messages), "rejected": len(intake.rejected)}
    written = {} if page is None else {"report": str(page)}
    print_json(told | rows | written, indent=None)
