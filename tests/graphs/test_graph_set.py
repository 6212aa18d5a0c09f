"""The graphs of a corpus are built when they are asked for, and once however many threads ask."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from eventide.graphs import graph_set
from eventide.graphs.graph_set import GraphSet
from eventide.graphs.incidence import Incidence
from eventide.graphs.keys import element_keys
from eventide.graphs.settings import GraphSettings

KEYS = element_keys("hashtags", ["flood", "fire"], b"salt")
TAGS = Incidence(np.array([0, 1, 2, 2, 4]), np.array([0, 0, 0, 1]), KEYS)
TIMES = np.array([0, 1, 2, 3])


@pytest.fixture
def built(monkeypatch):
    """Count what is built."""
    made = []
    for name in ("BucketedNeighbourhood", "Memory"):
        real = getattr(graph_set, name)

        def counted(*given, _real=real, _name=name, **options):
            made.append(_name)
            return _real(*given, **options)

        monkeypatch.setattr(graph_set, name, counted)
    return made


def test_new_messages_need_no_neighbourhoods(built):
    graphs = GraphSet({"tags": TAGS}, TIMES, GraphSettings())
    assert built == []
    found = graphs.look_up({"tags": TAGS}, TIMES)
    assert found["tags"].neighbours.tolist() == [3, 3, 0, 3]
    assert built == ["Memory"]


def test_each_graph_is_built_once_by_many_threads(built):
    graphs = GraphSet({"tags": TAGS}, TIMES, GraphSettings())
    with ThreadPoolExecutor(8) as workers:
        found = list(workers.map(lambda _: graphs.neighbours(np.arange(4)), range(32)))
    assert all(each["tags"].tolist() == [2, 2, 0, 2] for each in found)
    assert built == ["BucketedNeighbourhood"]


def test_messages_without_elements_are_not_connected():
    graphs = GraphSet({"tags": TAGS}, TIMES, GraphSettings())
    assert graphs.connected("tags").tolist() == [True, True, False, True]


def test_views_of_many_messages_are_built_together(monkeypatch):
    """Side by side or one after the other: every view has its own graph."""
    other = Incidence(np.array([0, 1, 1, 2, 2]), np.array([0, 0]), KEYS)
    views = {"tags": TAGS, "names": other}
    alone = GraphSet(views, TIMES, GraphSettings()).neighbours(np.arange(4))
    monkeypatch.setattr(graph_set, "MANY", 1)
    monkeypatch.setenv("POLARS_MAX_THREADS", "2")
    together = GraphSet(views, TIMES, GraphSettings()).neighbours(np.arange(4))
    assert {view: each.tolist() for view, each in together.items()} == {
        view: each.tolist() for view, each in alone.items()
    }
    assert list(together) == ["tags", "names"]
    assert together["names"].tolist() == [1, 0, 1, 0]
