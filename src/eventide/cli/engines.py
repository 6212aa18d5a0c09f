"""Options of verbs that can work in several processes or on a cluster."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from eventide.cli.options import one_of
from eventide.errors import BadSetting

if TYPE_CHECKING:
    from eventide.cluster.ray_session import RayOptions

_option = partial(typer.Option, rich_help_panel="Beyond one process")

Engine = Annotated[
    str | None,
    _option(metavar="ray", help="Do the work on Ray instead of processes of this machine."),
]
TrainEngine = Annotated[
    str | None,
    _option(
        metavar="torchrun|ray",
        help="Train with several workers: processes of this machine, or workers of Ray Train. "
        "Inside torchrun this process is one of them.",
    ),
]
FolderWorkers = Annotated[
    int | None,
    _option("--workers", help="Workers at the same time; all cores by default.", min=1),
]
RayAddress = Annotated[
    str | None,
    _option(
        metavar="HOST:PORT",
        help="A running Ray cluster, or auto; without it Ray is started here for the work.",
    ),
]
WorkerCpus = Annotated[float, _option(help="Cores that Ray gives to a worker.", min=0.1)]
WorkerMemory = Annotated[
    int | None, _option(metavar="MIB", help="Memory that Ray keeps for a worker.", min=1)
]
ObjectStore = Annotated[
    int | None,
    _option(metavar="MIB", help="Limit of the object store of a Ray that is started here.", min=80),
]


def ray_options(
    engine: str | None,
    address: str | None,
    cpus: float,
    memory: int | None,
    object_store: int | None,
) -> RayOptions | None:
    """Return how Ray is to be used; None where it is not asked for."""
    if engine is None:
        if address is not None or memory is not None or object_store is not None:
            raise BadSetting(
                "--ray-address, --worker-memory and --object-store are options of Ray",
                next_step="add --engine ray",
            )
        return None
    one_of(engine, ["ray"], "--engine")
    from eventide.cluster.ray_session import RayOptions, check_address, check_installed

    options = RayOptions(address, cpus, memory, object_store)
    check_installed()
    check_address(options)
    return options


def runner_of(ray: RayOptions | None, workers: int | None) -> dict[str, Any]:
    """Return what ``experiments.compare`` needs to do its runs on Ray; nothing without Ray."""
    if ray is None:
        return {}
    from eventide.cluster.ray_jobs import ray_jobs

    return {"runner": ray_jobs(ray, workers)}
