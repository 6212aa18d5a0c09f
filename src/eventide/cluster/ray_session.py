"""A connection to Ray: only with token authentication, with limits, and ended when the work ends.

Ray listens on all interfaces, and whoever reaches it can run any code. So a cluster that answers
without a token is refused, and a cluster that is started here has one of its own.
"""

from __future__ import annotations

import logging
import os
import secrets
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from eventide.errors import BadSetting, EventideError, MissingDependency, NotAllowed
from eventide.runtime.cores import usable_cores
from eventide.runtime.own_process import EVERY_POOL

MODE, TOKEN, TOKEN_PATH = "RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"
DEFAULT_TOKEN = Path(".ray") / "auth_token"
MEBIBYTE = 1 << 20
PAGE = "docs/cluster.md"
QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_BACKEND_LOG_LEVEL": "fatal",
}
"""No reports to Ray's makers, no warnings of what is to come, no lines of its inside."""

_PROBE = """
import sys
from ray._raylet import GcsClient
GcsClient(address=sys.argv[1]).internal_kv_get(b"eventide", b"eventide", timeout=5)
"""
_guarded: set[str] = set()
"""Clusters that refused a stranger."""

PATIENCE = 120.0
"""Seconds that a cluster may take to refuse a stranger."""


@dataclass(frozen=True)
class RayOptions:
    """Where Ray is and what it may use.

    Without an ``address`` Ray is started on this machine and ended afterwards; ``object_store`` is
    its limit in MiB. ``cpus`` and ``memory`` (MiB) are what one worker needs.
    """

    address: str | None = None
    cpus: float = 1.0
    memory: int | None = None
    object_store: int | None = None

    def resources(self) -> dict[str, float]:
        """Return what a worker asks Ray for."""
        wanted: dict[str, float] = {"num_cpus": self.cpus}
        if self.memory is not None:
            wanted["memory"] = self.memory * MEBIBYTE
        return wanted


@contextmanager
def ray_session(options: RayOptions, workers: int | None = None) -> Iterator[int]:
    """Connect to Ray, or start it here; give the number of workers, all that fit by default.

    A Ray of the calling program is used as it is, and left running.
    """
    check_installed()
    check_address(options)
    with _authentication(options):
        import ray

        logging.getLogger("ray").setLevel(logging.WARNING)
        ours = not ray.is_initialized()
        if ours:
            _connect(ray, options, workers)
        try:
            address = ray.get_runtime_context().gcs_address
            if address not in _guarded:  # an older Ray knows no tokens and says nothing
                check_guarded(address)
                _guarded.add(address)
            fit = room_for(ray.nodes(), options)
            yield min(workers, fit) if workers else fit
        finally:
            if ours:
                ray.shutdown()


def room_for(nodes: Sequence[Mapping[str, Any]], options: RayOptions) -> int:
    """Count the workers that fit on the nodes of a cluster; Ray would wait for room for ever.

    >>> node = {"Alive": True, "Resources": {"CPU": 5.0}}
    >>> room_for([node, node], RayOptions(cpus=2.0))
    4
    """
    names = {"num_cpus": "CPU"}
    asked = {names.get(name, name): value for name, value in options.resources().items()}
    room = sum(
        min(int(node["Resources"].get(name, 0) // value) for name, value in asked.items())
        for node in nodes
        if node["Alive"]
    )
    if not room:
        wanted = ", ".join(f"{name} {value:,.0f}" for name, value in asked.items())
        raise BadSetting(
            f"no node of the cluster has room for a worker ({wanted})",
            next_step="lower --worker-cpus or --worker-memory, or add nodes",
        )
    return room


def check_installed() -> None:
    """Raise where Ray is not installed."""
    if find_spec("ray") is None:
        raise MissingDependency(
            "the engine ray needs the package ray",
            next_step="pip install 'eventide[cluster]', or leave --engine out",
        )


def check_address(options: RayOptions) -> None:
    """Raise for options that contradict each other."""
    if options.address is None:
        return
    if options.address.startswith("ray://"):
        raise BadSetting(
            f"the address {options.address} is that of a Ray client, which cannot do this work",
            next_step="run eventide on a node of the cluster, with --ray-address auto",
        )
    if options.object_store is not None:
        raise BadSetting(
            "the object store of a running cluster cannot be limited from here",
            next_step="set it where the cluster is started: ray start --object-store-memory",
        )


def has_token() -> bool:
    """Say whether a token is given, by a variable or a file, as Ray looks for it."""
    if os.environ.get(TOKEN):
        return True
    place = os.environ.get(TOKEN_PATH)
    return (Path(place) if place else Path.home() / DEFAULT_TOKEN).is_file()


@cache
def _own_token() -> str:
    """Make a token for clusters of this process; Ray remembers the first it has seen."""
    return secrets.token_hex(32)


@contextmanager
def _authentication(options: RayOptions) -> Iterator[None]:
    """Have Ray ask for a token; one of our own where it is started here and there is none."""
    mode = os.environ.get(MODE)
    if mode is not None and mode.lower() != "token":
        raise _refused(f"{MODE} is {mode!r}")
    added = {} if mode else {MODE: "token"}
    if not has_token():
        if options.address is not None:
            raise _refused("no token is given")
        added[TOKEN] = _own_token()
    added |= {name: value for name, value in QUIET.items() if name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)


def check_guarded(address: str) -> None:
    """Raise `NotAllowed` if the cluster at ``address`` answers somebody without a token."""
    stranger = {
        name: value for name, value in os.environ.items() if not name.startswith("RAY_AUTH_")
    }
    stranger |= {MODE: "disabled", "HOME": os.devnull}
    words = [sys.executable, "-c", _PROBE, address]
    try:
        done = subprocess.run(
            words, env=stranger, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
    except subprocess.TimeoutExpired:
        raise _refused(f"the cluster at {address} did not say whether it wants one") from None
    if done.returncode == 0:
        raise _refused(f"the cluster at {address} answers without a token")
    if "authent" not in done.stderr.lower():
        raise _refused(f"the cluster at {address} did not say whether it wants one")


def _refused(why: str) -> NotAllowed:
    return NotAllowed(
        "a Ray cluster without token authentication is refused: whoever can reach it can run any "
        f"code on it; {why}",
        next_step=f"set {MODE}=token and {TOKEN_PATH} on every node and here, and start the "
        f"cluster with them ({PAGE})",
    )


def _connect(ray: Any, options: RayOptions, workers: int | None) -> None:
    quiet = {"include_dashboard": False, "log_to_driver": False, "logging_level": logging.ERROR}
    # Ray limits OpenMP itself; other pools would take all cores of a node in every worker.
    threads = str(max(1, int(options.cpus)))
    pools = {"runtime_env": {"env_vars": dict.fromkeys(EVERY_POOL, threads)}}
    if options.address is not None:
        given: dict[str, Any] = {"address": options.address}
        del quiet["include_dashboard"]
    else:
        cores = (workers or usable_cores()) * options.cpus
        given = {"address": "local", "num_cpus": max(1, int(-(-cores // 1)))}
        if options.object_store is not None:
            given["object_store_memory"] = options.object_store * MEBIBYTE
    try:
        ray.init(**given, **quiet, **pools)
    except (ConnectionError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        where = options.address or "this machine"
        raise EventideError(
            f"cannot connect to Ray: {str(error).strip().splitlines()[0][:200]}",
            where=where,
            next_step="check the address and the token; `ray status` tells whether it runs",
        ) from None
