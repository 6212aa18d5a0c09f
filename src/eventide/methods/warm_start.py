"""Going on from a trained method: more messages, other labels, more classes, a short training."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from eventide.corpus.corpus import Ints
from eventide.corpus.training_set import TrainingSet, Validation
from eventide.methods.trained import MultiViewMethod
from eventide.networks.heads import EvidenceHead
from eventide.runtime.own_process import kept_memory
from eventide.runtime.single_precision import quick_products
from eventide.tensors import unit_rows, widen
from eventide.training.loop import train
from eventide.training.objectives.objective import Objective

STEPS = 10
"""Steps of fine-tuning: with more of them a network learns a new event's few messages by heart."""
EPOCH_STEPS = 10
"""Steps after which class state and centroids are computed again."""
FASTEST = 1e-3
"""Learning rate of fine-tuning at most: a faster one undoes what the older events have taught."""
EXAMPLES = 20
"""Messages of each older class that a new one is set apart from."""
RIDGE = 0.1
"""How strongly a new class's first weights are held small, in mean variances of its inputs."""


def grown(stored: Mapping[str, Tensor], fresh: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Put stored weights into those of a network with more classes, which come last.

    >>> grown({"w": torch.ones(2)}, {"w": torch.zeros(3)})["w"].tolist()
    [1.0, 1.0, 0.0]
    """
    found = {}
    for name, value in fresh.items():
        old = stored.get(name)
        fits = old is not None and old.ndim == value.ndim
        if not fits or any(a > b for a, b in zip(old.shape, value.shape, strict=True)):  # type: ignore[union-attr]
            found[name] = value
            continue
        whole = value.clone()
        whole[tuple(slice(size) for size in cast(Tensor, old).shape)] = cast(Tensor, old)
        found[name] = whole
    return found


def warm_start(
    method: MultiViewMethod, arrays: Mapping[str, NDArray[Any]], training_set: TrainingSet
) -> None:
    """Give ``method`` the weights ``arrays`` of an older one, on the memory of a training set.

    Classes that the older one did not have are last; see ``imprint``.
    """
    tensors = {name: torch.from_numpy(value) for name, value in arrays.items()}
    counts = torch.from_numpy(np.maximum(training_set.class_counts, 1))
    network = method.make_network(training_set.corpus, training_set.classes)
    network.load_state_dict(grown(_part(tensors, "network."), network.state_dict()))
    method.set_up(network, training_set.corpus, counts)
    fresh = method.objective.state_dict()
    stored = {k: v for k, v in _part(tensors, "objective.").items() if k != "counts"}
    method.objective.load_state_dict(grown(stored, fresh))
    known = len(tensors["objective.counts"])
    if training_set.classes > known:
        imprint(method, training_set, known)


@torch.no_grad()
def imprint(method: MultiViewMethod, training_set: TrainingSet, known: int) -> None:
    """Set the classifier of each class from ``known`` on by its few messages, without training.

    In every view the new class gets weights by ridge regression: a logit like those that older
    classes have on their own messages for its messages, and one like those that they have on the
    others' for examples of the older classes. A class mean would not do: hidden values are never
    negative and much alike, so that messages of older classes are near to it too.
    """
    labels, rows = training_set.labels, training_set.training_rows
    firsts = [rows[labels[rows] == each][:EXAMPLES] for each in range(training_set.classes)]
    outputs = method.runner.evaluate(np.concatenate(firsts))
    classes = torch.from_numpy(np.repeat(np.arange(len(firsts)), [len(each) for each in firsts]))
    for head, output in zip(method.runner.network.heads, outputs.values(), strict=True):
        head = cast(EvidenceHead, head)
        hidden = widen(head.hidden_values(output.embeddings))
        classes = classes.to(hidden.device)
        weight = head.output.weight
        bias = None if head.settings.classifier != "linear" else head.output.bias
        values, directions = hidden, weight[:known]
        if bias is None:  # cosines read directions alone
            values, directions = unit_rows(hidden), unit_rows(widen(directions))
        logits = values @ directions.T + (0 if bias is None else bias[:known])
        older = classes < known
        own = classes[:, None] == torch.arange(known, device=classes.device)
        usual, other = logits[own].mean(), logits[older[:, None] & ~own].mean()
        for new in range(known, len(firsts)):
            target = torch.where(classes == new, usual, other)
            found, constant = _ridge(values, target, classes == new, centred=bias is not None)
            weight[new] = found.to(weight)
            if bias is not None:
                bias[new] = constant


def _ridge(values: Tensor, target: Tensor, own: Tensor, *, centred: bool) -> tuple[Tensor, Tensor]:
    """Return weights and constant that give ``values`` [n, width] the ``target`` [n] nearly.

    The ``own`` messages weigh as much as all others together.
    """
    counts = own.sum().clamp(min=1), (~own).sum().clamp(min=1)
    share = torch.where(own, 0.5 / counts[0], 0.5 / counts[1]).to(values)
    mean = share @ values if centred else torch.zeros_like(values[0])
    level = share @ target if centred else torch.zeros_like(target[0])
    apart = values - mean
    spread = (apart * share[:, None]).T @ apart
    spread.diagonal().add_(RIDGE * spread.diagonal().mean() + 1e-9)
    found = torch.linalg.solve(spread, (share * (target - level)) @ apart)
    return found, level - mean @ found


def fine_tune(method: MultiViewMethod, training_set: TrainingSet, *, steps: int) -> None:
    """Train for a few steps on all labelled messages, old and new; the last step counts."""
    nobody: Ints = np.zeros(0, dtype=np.int64)
    settings = method.settings.training.model_copy(
        update={
            "epochs": max(1, -(-steps // EPOCH_STEPS)),
            "epoch_steps": min(steps, EPOCH_STEPS),
            "least_steps": 0,
            "layer1_refresh": 1,
            "patience": None,
            "ema_decay": 0.0,
            "learning_rate": min(method.settings.training.learning_rate, FASTEST),
            "schedule": "constant",
            # Drawn as they come, five labels among thousands would hardly be seen.
            "sampler": "class-balanced",
        }
    )
    # A pass over all messages has as many steps as there are batches: a sample of them is enough.
    sample = _sample(training_set, settings.batch_size * min(steps, EPOCH_STEPS), method.seed)
    alone = TrainingSet(
        training_set.corpus, sample, training_set.classes, Validation(nobody, rows=nobody)
    )
    with kept_memory(len(alone.corpus)), quick_products(), _equal_counts(method.objective):
        train(method.runner, method.objective, alone, settings, seed=method.seed)


@contextmanager
def _equal_counts(objective: Objective) -> Iterator[None]:
    """Let weights and margins of the loss take all classes for equally large, as batches show them.

    Weighed by size on top of balanced batches, rare classes would take over the others. What heads
    add by class size while they learn stays: it makes room for messages unlike the few labelled.
    """
    counts = objective.counts.clone()
    objective.counts.fill_(int(counts.double().mean().ceil()))
    try:
        yield
    finally:
        objective.counts.copy_(counts)


def _sample(training_set: TrainingSet, most: int, seed: int) -> Ints:
    """Keep at most so many labels, as evenly over the classes as can be."""
    rows, labels = training_set.training_rows, training_set.labels
    if len(rows) <= most:
        return labels
    shuffled = np.random.default_rng([seed, len(rows)]).permutation(rows)
    order = np.argsort(labels[shuffled], kind="stable")
    sorted_labels = labels[shuffled][order]
    starts = np.searchsorted(sorted_labels, sorted_labels)
    rank = np.empty(len(rows), dtype=np.int64)
    rank[order] = np.arange(len(rows)) - starts
    kept = shuffled[np.argsort(rank, kind="stable")[:most]]
    sample = np.full_like(labels, -1)
    sample[kept] = labels[kept]
    return sample


def _part(tensors: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)}
