"""Seconds per epoch, and the whole training step beside the same step with explicit edges.

    python benchmarks/training.py                      # everything but a million messages
    python benchmarks/training.py --sizes 1000000 --refresh 634 # a million, neighbours an epoch old
    python benchmarks/training.py --sizes 1000000      # a million, exactly: for the patient

UCL-EC+CB, the default, at the paper's sizes: batches of 1,500, 256 dims, 3 views, 100 classes.
Every measurement has a process of its own. The rivals run the same network, loss and optimiser
over stored edges, and like ours compute only the messages that a batch averages over.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
import torch

from apart import report, run_apart, seconds
from eventide.corpus.corpus import Corpus
from eventide.corpus.training_set import UNLABELLED, TrainingSet, Validation
from eventide.graphs.keys import element_keys
from eventide.methods.ucl import UclEcBalanced
from eventide.runtime.own_process import keep_memory, kept_memory
from eventide.settings import preset, resolve
from explicit_frame import ExplicitStage
from generated import generate

CONTESTANTS = ("buckets", "sparse", "gather")
CLASSES = 100
WIDTH = 256


def invented(messages: int) -> TrainingSet:
    """Invent messages with features that know a little of their event; every 20th is held out."""
    graph = generate(messages, events=CLASSES)
    random = np.random.default_rng(0)
    centres = random.normal(size=(CLASSES, WIDTH)).astype(np.float32)
    features = random.standard_normal((messages, WIDTH), dtype=np.float32) * 2
    features = (features + centres[graph.events]) / np.float32(WIDTH**0.5)
    keys = element_keys("id", map(str, range(messages)))
    held_out = np.arange(0, messages, 20)
    labels = graph.events.copy()
    labels[held_out] = UNLABELLED
    corpus = Corpus(features, graph.times, graph.views, keys, keys, keys)
    return TrainingSet(corpus, labels, CLASSES, Validation(graph.events[held_out], rows=held_out))


def real(name: str) -> TrainingSet:
    """Split 0 of a dataset with the default encoder."""
    from eventide.corpus.training_set import prepare_data
    from eventide.data import read
    from eventide.data.splits import per_class_split
    from eventide.features.elements import with_elements
    from eventide.features.encoders import DEFAULT_ENCODER, encoder
    from eventide.graphs.settings import GraphSettings
    from eventide.graphs.views import PAPER_VIEWS

    messages = with_elements(per_class_split(read(name).messages, seed=0))
    return prepare_data(
        messages,
        encoder=encoder(DEFAULT_ENCODER),
        views=PAPER_VIEWS,
        graph=GraphSettings(),
        inductive=False,
        seed=0,
    ).training_set


def method_on(training_set: TrainingSet, variant: str, changes: dict[str, Any]) -> UclEcBalanced:
    """Set up the default method on the training_set, over buckets or over edges."""
    method = UclEcBalanced(resolve(preset("default"), UclEcBalanced.defaults, changes), seed=0)
    network = method.make_network(training_set.corpus, training_set.classes)
    method.fit_inputs(network, training_set)
    method._set_up(network, training_set.corpus, torch.from_numpy(training_set.class_counts))
    if variant != "buckets":
        method.runner = ExplicitStage(
            network, training_set.corpus, method.settings.graph, method.runner.device
        )
        method.runner.kernel = variant
    return method


def step_of(training_set: TrainingSet, variant: str, changes: dict[str, Any]) -> Any:
    """Return a function that takes one step, how many an epoch has, and one to start over."""
    method = method_on(training_set, variant, changes)
    runner, objective = method.runner, method.objective
    rows, labels = training_set.training_rows, torch.from_numpy(training_set.labels)
    optimiser = torch.optim.Adam(runner.network.parameters(), lr=1e-3)
    size, random = method.settings.training.batch_size, np.random.default_rng(0)
    objective.observe(runner.evaluate(rows[:size]), labels[rows[:size]], 0)

    def step() -> float:
        batch = random.permutation(rows)[:size]
        loss, _ = objective.loss(runner.learn(batch), labels[batch], 1)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        optimiser.step()
        return float(loss.detach())

    def start_over() -> None:
        runner.evaluate(rows[:1])

    return step, -(-len(rows) // size), start_over


def one_step(variant: str, messages: int, repeats: int, refresh: int) -> None:
    """Measure steps, and add them up to an epoch.

    Where neighbours may grow stale, a round has an exact step, one that computes everybody's
    states anew, and stale ones; its first round sets things up and is not counted.
    """
    training_set = invented(messages)
    keep_memory()
    with kept_memory():
        started = time.perf_counter()
        step, steps, start_over = step_of(
            training_set, variant, {"training.layer1_refresh": refresh}
        )
        first = step()
        if refresh > 1:
            step()
            start_over()
        built = time.perf_counter() - started
        rounds = -(-steps // refresh)
        kinds = [(rounds, 1), (rounds, 1), (max(steps - 2 * rounds, 0), repeats)]
        if refresh == 1:
            kinds = [(steps, repeats)]
        parts = [(number, seconds(step, timed, warm=0)) for number, timed in kinds]
    epoch = sum(number * spent["wall"] for number, spent in parts)
    how = " + ".join(f"{number} steps of {spent['wall']:.2f} s" for number, spent in parts)
    report(built=built, first_loss=first, epoch=epoch, how=how, **parts[0][1])


def one_epoch(name: str, refresh: int) -> None:
    """Measure whole epochs, evaluation included, after a first one."""
    training_set = invented(int(name)) if name.isdigit() else real(name)
    changes = {"training.epochs": 4, "training.layer1_refresh": refresh}
    settings = resolve(preset("default"), UclEcBalanced.defaults, changes)
    started = time.perf_counter()
    run = UclEcBalanced(settings, seed=0).fit(training_set, lambda _: None, None)
    epochs = [row["seconds"] for row in run.history[1:]]
    total = time.perf_counter() - started
    report(messages=len(training_set.corpus), epoch=float(np.median(epochs)), total=total)


def main() -> None:
    """Run the contest and the epochs, each measurement in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=2, help="for epochs")
    parser.add_argument("--messages", type=int, default=20_000, help="of the contest")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--sizes", nargs="*", help="only these: a number, or a dataset's name")
    parser.add_argument("--refresh", type=int, default=1, help="layer1_refresh, above 1 not exact")
    parser.add_argument("--one-step", choices=CONTESTANTS, help="run this variant here")
    parser.add_argument("--one-epoch", help="measure epochs of this set here")
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)
    if asked.one_step:
        one_step(asked.one_step, asked.messages, asked.repeats, asked.refresh)
    elif asked.one_epoch:
        one_epoch(asked.one_epoch, asked.refresh)
    else:
        if asked.sizes is None:
            contest(asked)
        epochs(asked, asked.sizes or ["crisislex-t7", "20000", "100000"])


def contest(asked: argparse.Namespace) -> None:
    """One step of every variant, with one thread: the steadier figure."""
    print(f"one training step, {asked.messages} messages, 1 thread")
    print(f"{'':10}{'set-up s':>10}{'wall s':>10}{'cpu s':>10}{'peak MB':>10}{'ratio':>8}")
    found: dict[str, Any] = {}
    for name in CONTESTANTS:
        arguments = [f"--one-step={name}", f"--messages={asked.messages}"]
        arguments += ["--threads=1", f"--repeats={asked.repeats}"]
        row = found[name] = run_apart(__file__, arguments, threads=1)
        ratio = row["wall"] / found["buckets"]["wall"]
        print(
            f"{name:10}{row['built']:10.1f}{row['wall']:10.3f}{row['cpu']:10.3f}"
            f"{row['peak_mb']:10,}{ratio:8.1f}"
        )
    losses = [row["first_loss"] for row in found.values()]
    print(f"first losses agree to {max(losses) - min(losses):.0e}; wanted ratios: 4 and 20\n")


def epochs(asked: argparse.Namespace, sizes: list[str]) -> None:
    """Seconds per epoch; large sets from a few steps."""
    print(f"seconds per epoch, batches of 1,500, {asked.threads} thread(s)")
    for size in sizes:
        shared = [f"--threads={asked.threads}", f"--refresh={asked.refresh}"]
        if size.isdigit() and int(size) > 50_000:
            arguments = ["--one-step=buckets", f"--messages={size}", f"--repeats={asked.repeats}"]
            row = run_apart(__file__, arguments + shared, asked.threads)
            epoch, how = row["epoch"], f"{row['how']}, evaluation left out"
        else:
            row = run_apart(__file__, [f"--one-epoch={size}", *shared], asked.threads)
            epoch, how = row["epoch"], "measured, evaluation included"
        print(f"{size:>14} {epoch:10.2f} s  peak {row['peak_mb']:,} MB  ({how})")


if __name__ == "__main__":
    main()
