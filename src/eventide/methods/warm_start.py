"""Going on from a trained method: more messages, other labels, more classes, a short training."""

from __future__ import annotations

from collections.abc import Mapping
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
from eventide.training.loop import train

STEPS = 20
"""Steps of fine-tuning."""
EPOCH_STEPS = 10
"""Steps after which class state and centroids are computed again."""
OVERTAKEN = 0.02
"""Share of examples of older classes that a new class's prototype may claim in a view."""
EXAMPLES = 20
"""Messages of each older class that a new one is set apart from."""


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

    In every view the new class gets the direction from the mean of the older classes to its own
    mean, and a logit like those that older classes have on their messages.
    """
    labels, rows = training_set.labels, training_set.training_rows
    firsts = [rows[labels[rows] == each][:EXAMPLES] for each in range(training_set.classes)]
    outputs = method.runner.evaluate(np.concatenate(firsts))
    ends = np.cumsum([len(each) for each in firsts])
    for head, output in zip(method.runner.network.heads, outputs.values(), strict=True):
        head = cast(EvidenceHead, head)
        hidden = head.hidden_values(output.embeddings)
        means = torch.stack(
            [
                hidden[end - len(each) : end].mean(dim=0) if len(each) else hidden.mean(dim=0)
                for each, end in zip(firsts, ends, strict=True)
            ]
        )
        older = means[:known]
        if head.settings.classifier != "linear":
            # Hidden values are never negative, and alike for all classes: what sets the new class
            # apart is where it leaves the mean of the older ones.
            head.output.weight[known:] = means[known:] - older.mean(dim=0)
            continue
        usual = (older * head.output.weight[:known]).sum(dim=1) + head.output.bias[:known]
        direction = means[known:] - older.mean(dim=0)
        middle = (means[known:] + older.mean(dim=0)) / 2
        length = direction.square().sum(dim=1, keepdim=True).clamp(min=1e-12)
        scale = 2 * usual.mean().clamp(min=1.0) / length
        head.output.weight[known:] = scale * direction
        head.output.bias[known:] = -(scale * direction * middle).sum(dim=1)
        # Almost no message of an older class may go over to a new one.
        logits = head.output(hidden[: ends[known - 1]])
        room = logits[:, :known].amax(dim=1, keepdim=True) - logits[:, known:]
        spare = room.quantile(OVERTAKEN, dim=0)
        head.output.bias[known:] += spare.clamp(max=0.0)


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
            "schedule": "constant",
        }
    )
    # A pass over all messages has as many steps as there are batches: a sample of them is enough.
    sample = _sample(training_set, settings.batch_size * min(steps, EPOCH_STEPS), method.seed)
    alone = TrainingSet(
        training_set.corpus, sample, training_set.classes, Validation(nobody, rows=nobody)
    )
    with kept_memory(len(alone.corpus)):
        train(method.runner, method.objective, alone, settings, seed=method.seed)


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
