"""A memory in shards behind the look-up of one memory: objects here, or one Ray actor for each.

A message belongs to the shard whose range its hashed id falls into, and to no other. A new message
asks every shard for its part of the average; parts merge by the shift rule (SPEED.md 9).
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from eventide.cluster.ray_session import RayOptions, ray_session
from eventide.errors import BadSetting
from eventide.graphs.exact.lookup import MemorySums, Partial, merge, own_partial
from eventide.graphs.incidence import Incidence, Ints
from eventide.graphs.memory import Memory
from eventide.model import EventClassifier
from eventide.runners.graph_runner import GraphRunner


class MemoryShard(Protocol):
    """One range of the memory, wherever it is; calls may be answered later."""

    def look_up(self, new: Incidence, times: Ints) -> Any:
        """Find the neighbours of new messages; the answer is for ``partial`` and ``neighbours``."""

    def partial(self, found: Any, layer: int, rates: Tensor) -> Any:
        """Begin the unfinished average over this shard's values of a layer."""

    def neighbours(self, found: Any) -> Any:
        """Begin to count the neighbours of each new message."""


class LocalShard:
    """A shard in this process: its messages, and the bucket sums of each layer's values."""

    def __init__(
        self, incidence: Incidence, times: Ints, most: int | None, layers: Sequence[Tensor]
    ) -> None:
        self._memory = Memory(incidence, times, most)
        self._sums: list[MemorySums] = [self._memory.sums(each) for each in layers]

    def look_up(self, new: Incidence, times: Ints) -> Any:
        """Find the neighbours of new messages."""
        return self._memory.lookup(new, times)

    def partial(self, found: Any, layer: int, rates: Tensor) -> Partial:
        """Return the unfinished average."""
        part: Partial = found.partial(self._sums[layer], rates)
        return part

    def neighbours(self, found: Any) -> Ints:
        """Count the neighbours."""
        counted: Ints = found.neighbours
        return counted

    @property
    def stored_bytes(self) -> int:
        """Bytes of the values and their sums."""
        return sum(
            part.numel() * part.element_size()
            for each in self._sums
            for part in (each.sums, each.values)
        )


class ShardActor:
    """One range of the memory in an actor of Ray, all views of it.

    What it found for somebody is kept until they have done.
    """

    def __init__(self, views: Mapping[str, tuple[Incidence, Ints, int | None, Sequence[Any]]]):
        torch.set_num_threads(1)
        self._shards = {
            view: LocalShard(
                incidence, times, most, [torch.from_numpy(np.array(each)) for each in layers]
            )
            for view, (incidence, times, most, layers) in views.items()
        }
        self._found: dict[int, Any] = {}
        self._next = 0

    def look_up(self, view: str, new: Incidence, times: Ints) -> int:
        """Find the neighbours, and return the number under which they are kept."""
        self._next += 1
        self._found[self._next] = self._shards[view].look_up(new, times)
        return self._next

    def partial(self, view: str, found: int, layer: int, rates: Any) -> tuple[Any, ...]:
        """Return sums, weights and references of the unfinished average."""
        asked = torch.from_numpy(np.array(rates))
        part = self._shards[view].partial(self._found[found], layer, asked)
        return part.sums.numpy(), part.weights.numpy(), part.references.numpy()

    def neighbours(self, view: str, found: int) -> Ints:
        """Count the neighbours."""
        return self._shards[view].neighbours(self._found[found])

    def forget(self, found: int) -> None:
        """Drop what was found."""
        self._found.pop(found, None)

    def stored_bytes(self) -> int:
        """Return the bytes of the values and their sums."""
        return sum(each.stored_bytes for each in self._shards.values())


class RemoteShard:
    """A view of a shard in another process, asked through Ray; answers are fetched when needed."""

    def __init__(self, actor: Any, view: str) -> None:
        self._actor, self._view = actor, view

    def look_up(self, new: Incidence, times: Ints) -> Any:
        """Begin to find the neighbours of new messages."""
        return _Found(self._actor, self._actor.look_up.remote(self._view, new, times))

    def partial(self, found: Any, layer: int, rates: Tensor) -> Any:
        """Begin the unfinished average."""
        asked = rates.detach().cpu().numpy()
        return self._actor.partial.remote(self._view, found.number, layer, asked)

    def neighbours(self, found: Any) -> Any:
        """Begin to count the neighbours."""
        return self._actor.neighbours.remote(self._view, found.number)


class _Found:
    """What an actor found; the actor forgets it when nobody here refers to it any more."""

    def __init__(self, actor: Any, number: Any) -> None:
        self._actor, self.number = actor, number

    def __del__(self) -> None:
        try:
            self._actor.forget.remote(self.number)
        except Exception:  # Ray is gone, and the actor with it
            return


class ShardedLookup:
    """What new messages read of a memory in shards; answers as a look-up of one memory does."""

    def __init__(self, shards: Sequence[MemoryShard], new: Incidence, times: Ints) -> None:
        self._asked = [(shard, shard.look_up(new, times)) for shard in shards]
        begun = [shard.neighbours(found) for shard, found in self._asked]
        counted = [_fetched(each) for each in begun]
        #: how many memory messages each new one meets
        self.neighbours: Ints = np.sum(counted, axis=0).astype(np.int64)

    def __len__(self) -> int:
        return len(self.neighbours)

    def average(self, memory_values: StoredLayer, own_values: Tensor, rates: Tensor) -> Tensor:
        """Average over memory neighbours and oneself."""
        begun = [shard.partial(found, memory_values.number, rates) for shard, found in self._asked]
        parts = [_partial(_fetched(each), rates.device) for each in begun]
        return merge([*parts, own_partial(own_values, rates)], rates).average()


@dataclass(frozen=True)
class StoredLayer:
    """Stands for the memory's values of a layer, which lie in the shards."""

    number: int


class ShardedMemory:
    """A memory in shards with the look-up of `eventide.graphs.memory.Memory`."""

    def __init__(self, shards: Sequence[MemoryShard]) -> None:
        self.shards = tuple(shards)

    def lookup(self, new: Incidence, times: Ints | list[int]) -> ShardedLookup:
        """Find the memory's neighbours of new messages; each one's answer stands alone."""
        return ShardedLookup(self.shards, new, np.asarray(times, dtype=np.int64))


def key_ranges(ids: np.ndarray[Any, Any], shards: int) -> list[Ints]:
    """Return the rows of each range of the hashed ids [N]: every row in exactly one.

    >>> keys = np.array([b"0", b"a", b"8", b"f"], dtype="S1")
    >>> [rows.tolist() for rows in key_ranges(keys, 2)]
    [[0, 2], [1, 3]]
    """
    order = np.argsort(ids, kind="stable")
    return [np.sort(rows).astype(np.int64) for rows in np.array_split(order, shards)]


def memory_parts(
    model: EventClassifier, shards: int
) -> Generator[dict[str, tuple[Incidence, Ints, int | None, list[Tensor]]]]:
    """Yield what each shard of a model's memory holds, view by view: elements, times, states."""
    runner = _runner(model)
    memory = model.memory_
    if not 1 <= shards <= len(memory):
        raise BadSetting(
            f"a memory of {len(memory):,} messages cannot be cut into {shards} shards",
            next_step="choose at least one, and no more than it has messages",
        )
    states = runner.memory_layers()
    for rows in key_ranges(memory.ids, shards):
        some = torch.from_numpy(rows)
        yield {
            view: (
                incidence.take(rows).compact(),
                memory.times[rows],
                model.settings_.graph.wide_after,
                [each[some] for each in states[view]],
            )
            for view, incidence in memory.incidences.items()
        }


def shard_memory(model: EventClassifier, shards: int) -> EventClassifier:
    """Let new messages of ``model`` read its memory in shards of this process; return it."""
    parts = list(memory_parts(model, shards))
    _runner(model).read_from(
        {view: ShardedMemory([LocalShard(*part[view]) for part in parts]) for view in parts[0]},
        _layers(parts[0]),
    )
    return model


@contextmanager
def remote_memory(model: EventClassifier, shards: int, options: RayOptions) -> Generator[list[Any]]:
    """Inside, new messages of ``model`` read its memory from Ray, an actor for each range.

    Gives the actors. The model reads its own memory again afterwards.
    """
    with ray_session(options):
        import ray

        make = ray.remote(**options.resources() | {"num_cpus": 0})(ShardActor)
        actors: list[Any] = []
        layers: dict[str, list[StoredLayer]] = {}
        for part in memory_parts(model, shards):
            layers = _layers(part)
            held = {
                view: (incidence, times, most, [each.cpu().numpy() for each in states])
                for view, (incidence, times, most, states) in part.items()
            }
            actors.append(make.remote(held))
        memories = {
            view: ShardedMemory([RemoteShard(each, view) for each in actors]) for view in layers
        }
        runner = _runner(model)
        runner.read_from(memories, layers)
        try:
            yield actors
        finally:
            runner.read_own()
            for each in actors:
                ray.kill(each)


def _layers(part: Mapping[str, tuple[Any, Any, Any, list[Tensor]]]) -> dict[str, list[StoredLayer]]:
    return {
        view: [StoredLayer(number) for number in range(len(states))]
        for view, (_, _, _, states) in part.items()
    }


def _runner(model: EventClassifier) -> GraphRunner:
    runner = getattr(model.method_, "runner", None)
    if not isinstance(runner, GraphRunner):
        raise BadSetting(
            f"the method {model.method} has no memory that could be cut into shards",
            next_step="choose a method of the multi-view frame, such as ucl-ec",
        )
    return runner


def _fetched(answer: Any) -> Any:
    """Wait for an answer of Ray; one that is here is returned."""
    if type(answer).__module__.partition(".")[0] != "ray":
        return answer
    import ray

    return ray.get(answer)


def _partial(part: Any, device: torch.device) -> Partial:
    if isinstance(part, Partial):
        return part
    sums, weights, references = (torch.from_numpy(np.array(each)).to(device) for each in part)
    return Partial(sums, weights, references)
