"""Seconds per epoch, and the whole training step beside the same step with explicit edges.

    python benchmarks/training.py                            # all but a million messages
    python benchmarks/training.py --sizes 1000000 --steps 159   # a million, four rounds an epoch
    python benchmarks/training.py --sizes 20000 --against 3f8a691   # beside an older commit

UCL-EC+CB at the paper's sizes: batches of 1,500, 256 dims, 3 views, 100 classes. Every measurement
has a process of its own. The rivals run the same network, loss, optimiser and rounds over stored
edges, and like ours compute only the messages that a batch averages over. ``--steps`` is
training.layer1_refresh, the steps of a round.
"""

from __future__ import annotations

import argparse
import time
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import torch

from apart import checked_out, report, run_apart, seconds
from eventide.corpus.corpus import Corpus
from eventide.corpus.training_set import UNLABELLED, TrainingSet, Validation
from eventide.graphs.keys import element_keys
from eventide.losses.loss_inputs import LossInputs
from eventide.losses.total import total_loss
from eventide.methods.ucl import UclEcBalanced
from eventide.runtime.own_process import kept_memory, make_own
from eventide.runtime.single_precision import quick_products
from eventide.settings import preset, resolve
from eventide.training.batches import in_rounds
from eventide.training.settings import TrainingSettings
from explicit_frame import ExplicitRunner
from generated import generate

CONTESTANTS = ("buckets", "sparse", "gather")
CLASSES = 100
WHOLE_EPOCHS = 50_000
"""Messages up to which whole epochs are measured; above, one round and one evaluation."""
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
    from eventide.data.split_draws import per_class_split
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


def method_on(training_set: TrainingSet, variant: str) -> UclEcBalanced:
    """Set up the method on the training set, over buckets or over edges."""
    method = UclEcBalanced(resolve(preset("default"), UclEcBalanced.defaults), seed=0)
    network = method.make_network(training_set.corpus, training_set.classes)
    method.fit_inputs(network, training_set)
    method.set_up(network, training_set.corpus, torch.from_numpy(training_set.class_counts))
    if variant != "buckets":
        method.runner = ExplicitRunner(
            network,
            training_set.corpus,
            method.settings.graph,
            method.runner.device,
            kernel=variant,
        )
    return method


def one_step(variant: str, messages: int, repeats: int, steps: int) -> None:
    """Measure whole rounds of so many steps; the first one sets things up and is not counted."""
    training_set = invented(messages)
    make_own()
    with kept_memory(len(training_set.corpus)), quick_products():
        started = time.perf_counter()
        method = method_on(training_set, variant)
        runner, objective = method.runner, method.objective
        rows, labels = training_set.training_rows, torch.from_numpy(training_set.labels)
        optimiser = torch.optim.Adam(runner.network.parameters(), lr=1e-3)
        size, random = method.settings.training.batch_size, np.random.default_rng(0)
        objective.observe(runner.evaluate(rows[:size]), labels[rows[:size]], 0)

        def round_of(count: int) -> float:
            batches = np.resize(random.permutation(rows), (count, size))
            chosen = TrainingSettings(layer1_refresh=count)
            for batch, ahead in in_rounds(batches, chosen):
                outputs = runner.learn(batch, ahead=ahead)
                fused = objective.reader.fuse(objective.reader.opinions(outputs))
                given = LossInputs(outputs, fused, labels[batch], objective.statistics, 1)
                terms = {name: term(given) for name, term in objective.terms.items()}
                loss = total_loss(terms, objective.weights(1))
                optimiser.zero_grad(set_to_none=True)
                loss.backward()
                optimiser.step()
            return float(loss.detach())

        def evaluate() -> None:
            objective.observe(runner.evaluate(rows), labels[rows], 1)

        first = round_of(min(steps, 2))
        built = time.perf_counter() - started
        spent = seconds(partial(round_of, steps), repeats, warm=0)
        end = seconds(evaluate, 1, warm=0) if messages > WHOLE_EPOCHS else {"wall": 0, "cpu": 0}
    rounds = -(-len(rows) // size) / steps
    each = {name: value / steps for name, value in spent.items()}
    epoch = {name: spent[name] * rounds + end[name] for name in spent}
    report(built=built, first_loss=first, epoch=epoch["wall"], epoch_cpu=epoch["cpu"], **each)


def one_epoch(name: str, steps: int) -> None:
    """Measure whole epochs, evaluation included, after a first one."""
    training_set = invented(int(name)) if name.isdigit() else real(name)
    changes = {"training.epochs": 4, "training.layer1_refresh": steps}
    settings = resolve(preset("default"), UclEcBalanced.defaults, changes)
    ends: list[float] = []
    run = UclEcBalanced(settings, seed=0).fit(
        training_set, lambda _: ends.append(time.process_time()), None
    )
    epoch = float(np.median([row["seconds"] for row in run.history[1:]]))
    report(epoch=epoch, epoch_cpu=float(np.median(np.diff(ends))))


def main() -> None:
    """Run the contest and the epochs, each measurement in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=2, help="for epochs")
    parser.add_argument("--messages", type=int, default=20_000, help="of the contest")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--sizes", nargs="*", help="only these: a number, or a dataset's name")
    parser.add_argument("--steps", type=int, help="of a round; 1 and 8 unless given")
    parser.add_argument("--against", help="a commit whose epochs are measured beside, by turns")
    parser.add_argument("--one-step", choices=CONTESTANTS, help="run this variant here")
    parser.add_argument("--one-epoch", help="measure epochs of this set here")
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)
    if asked.one_step:
        one_step(asked.one_step, asked.messages, asked.repeats, asked.steps)
    elif asked.one_epoch:
        one_epoch(asked.one_epoch, asked.steps)
    else:
        rounds = [asked.steps] if asked.steps else [1, 8]
        if asked.sizes is None:
            compare({steps: contest(asked, steps) for steps in rounds})
        epochs(asked, asked.sizes or ["crisislex-t7", "20000", "100000"], rounds)


def compare(found: dict[int, dict[str, Any]]) -> None:
    """Ours with the longest rounds beside rivals whose layers all learn in every step."""
    least, most = min(found), max(found)
    if least < most:
        ours = found[most]["buckets"]["cpu"]
        for name in CONTESTANTS[1:]:
            ratio = found[least][name]["cpu"] / ours
            print(f"ours in rounds of {most}, {name} in rounds of {least}: ratio {ratio:.1f}")
        print()


def contest(asked: argparse.Namespace, steps: int) -> dict[str, Any]:
    """One step of every variant, with one thread: the steadier figure."""
    print(f"one training step, {asked.messages} messages, rounds of {steps} step(s), 1 thread")
    print(f"{'':10}{'set-up s':>10}{'wall s':>10}{'cpu s':>10}{'peak MB':>10}{'ratio':>8}")
    found: dict[str, Any] = {}
    for name in CONTESTANTS:
        arguments = [f"--one-step={name}", f"--messages={asked.messages}", f"--steps={steps}"]
        arguments += ["--threads=1", f"--repeats={asked.repeats}"]
        row = found[name] = run_apart(__file__, arguments, threads=1)
        ratio = row["cpu"] / found["buckets"]["cpu"]
        print(
            f"{name:10}{row['built']:10.1f}{row['wall']:10.3f}{row['cpu']:10.3f}"
            f"{row['peak_mb']:10,}{ratio:8.1f}"
        )
    losses = [row["first_loss"] for row in found.values()]
    print(f"first losses agree to {max(losses) - min(losses):.0e}; wanted ratios: 6 and 50\n")
    return found


def epochs(asked: argparse.Namespace, sizes: list[str], rounds: list[int]) -> None:
    """Seconds per epoch; large sets from a round."""
    print(f"seconds per epoch, batches of 1,500, {asked.threads} thread(s)")
    for size, steps in product(sizes, rounds):
        shared = [f"--threads={asked.threads}", f"--steps={steps}"]
        if size.isdigit() and int(size) > WHOLE_EPOCHS:
            arguments = ["--one-step=buckets", f"--messages={size}", "--repeats=1"]
            how = "from one round and one evaluation"
        else:
            arguments, how = [f"--one-epoch={size}"], "evaluation included"
        row = run_apart(__file__, arguments + shared, asked.threads)
        print(
            f"{size:>14} rounds of {steps:3} {row['epoch']:10.2f} s, {row['epoch_cpu']:.2f} of the"
            f" processor, peak {row['peak_mb']:,} MB  ({how})"
        )
        if asked.against:
            old = beside(asked.against, size, asked.threads)
            print(f"{'':>14} at {asked.against} {old:10.2f} s  ratio {old / row['epoch']:.2f}")


def beside(commit: str, size: str, threads: int) -> float:
    """Measure the epoch of an older commit with its own script."""
    with checked_out(commit) as tree:
        script = str(tree / "benchmarks" / "training.py")
        row = run_apart(
            script, [f"--one-epoch={size}", f"--threads={threads}"], threads, str(tree / "src")
        )
    return float(row["epoch"])


if __name__ == "__main__":
    main()
