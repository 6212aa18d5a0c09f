"""Row 1: a forked child answers, or says within seconds why it cannot; it never hangs."""

import json
import os
import subprocess
import sys

import polars as pl
import pytest

import eventide
from eventide.model import EventClassifier

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")

PATIENCE = 5  # seconds from the call to the answer or the error
SCRIPT = """
import faulthandler, json, multiprocessing, os, sys, time
import torch
import eventide
from eventide.errors import ForkedProcess

path, rows = sys.argv[1], json.loads(sys.argv[2])


def answer(call):
    started = time.monotonic()
    try:
        told = call()
    except ForkedProcess as error:
        told = [type(error).__name__, error.next_step]
    return told, time.monotonic() - started


def forked(*calls):
    # Run each call in a child of its own, all at the same time.
    children = []
    for call in calls:
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            faulthandler.dump_traceback_later(30, exit=True)  # a hang ends, and fails the test
            os.write(write, json.dumps(answer(call)).encode())
            os._exit(0)
        os.close(write)
        children.append((pid, read))
    found = []
    for pid, read in children:
        with os.fdopen(read) as pipe:
            found.append(json.loads(pipe.read() or "null"))
        os.waitpid(pid, 0)
    return found


def by_multiprocessing(queue):
    queue.put(answer(lambda: model.predict(rows).tolist()))


told = {}
model = eventide.load(path)
torch.set_num_threads(2)
torch.ones(1500, 1500) @ torch.ones(1500, 1500)  # torch's threads are there, and lost in a child
loads = lambda: eventide.load(path).predict(rows).tolist()
predicts = lambda: model.predict(rows).tolist()
told["loaded"] = forked(predicts, lambda: model.predict(rows[:1]).tolist(), loads)
told["parent"] = predicts()
told["computed"] = forked(
    predicts, lambda: model.predict(rows[:1]).tolist(), loads,
    lambda: eventide.EventClassifier().fit(rows),
    lambda: model.save(path + "-again"),
)
context = multiprocessing.get_context("fork")
queue = context.SimpleQueue()
child = context.Process(target=by_multiprocessing, args=(queue,))
child.start()
told["multiprocessing"] = queue.get()
child.join()
print(json.dumps(told))
"""
LATE = """
import json, os, sys, time
import polars as pl
pl.DataFrame({"a": [1, 2], "b": [1, 2]}).group_by("a").agg(pl.len(), pl.col("b").sum())
if os.fork():
    os.wait()
else:
    import eventide.model
    from eventide.errors import ForkedProcess
    started = time.monotonic()
    try:
        eventide.load(sys.argv[1])
    except ForkedProcess as error:
        print(json.dumps([str(error), time.monotonic() - started]), flush=True)
    os._exit(0)
"""


@pytest.fixture(scope="module")
def saved(small_sample, tmp_path_factory):
    quick = {"encoder": "tfidf-svd:16", "training__epochs": 1}
    model = EventClassifier(**quick).fit(small_sample)
    return model.save(tmp_path_factory.mktemp("forks") / "model")


@pytest.fixture(scope="module")
def rows(small_sample):
    """As a web server gets them: no frame, nothing of polars."""
    new = small_sample.head(40).select(
        pl.format("new-{}", "id").alias("id"), "text", pl.col("created_at").cast(pl.String)
    )
    return new.to_dicts()


def told_by(script, *arguments):
    environment = os.environ | {"OMP_NUM_THREADS": "2", "POLARS_MAX_THREADS": "2"}
    done = subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)],
        env=environment, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.slow
def test_a_forked_child_answers_or_says_why_not(saved, rows):
    """Row 1: an answer where the parent has only loaded, a typed error where it has computed."""
    told = told_by(SCRIPT, saved, json.dumps(rows))
    expected = eventide.load(saved).predict(rows).tolist()
    assert told["parent"] == expected
    assert [answer for answer, _ in told["loaded"]] == [expected, expected[:1], expected]
    for (kind, advice), seconds in [*told["computed"], told["multiprocessing"]]:
        assert kind == "ForkedProcess"
        assert "spawn" in advice
        assert seconds < PATIENCE
    assert not saved.with_name("model-again").exists()


@pytest.mark.slow
def test_a_child_that_imports_us_after_the_fork_is_told_too(saved):
    """Row 1: the parent used polars for itself, and we came later."""
    message, seconds = told_by(LATE, saved)
    assert "forked" in message
    assert seconds < PATIENCE
