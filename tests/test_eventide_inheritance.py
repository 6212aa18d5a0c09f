"""No deep inheritance: at most three classes of ours on the way to any class."""

import inspect
import pkgutil
from importlib import import_module

import eventide

MOST = 3


def own_classes():
    """Every class of the package, once."""
    found = set()
    for module in pkgutil.walk_packages(eventide.__path__, "eventide."):
        if module.name.endswith("__main__"):
            continue
        for _, each in inspect.getmembers(import_module(module.name), inspect.isclass):
            if each.__module__.startswith("eventide"):
                found.add(each)
    return found


def lineage(each):
    return [base for base in each.__mro__ if base.__module__.startswith("eventide")]


def test_at_most_three_classes_of_ours_stand_above_each_other():
    classes = own_classes()
    assert len(classes) > 100
    deep = {each: lineage(each) for each in classes if len(lineage(each)) > MOST}
    told = [" <- ".join(base.__name__ for base in bases) for bases in deep.values()]
    assert not deep, f"more than {MOST}: {'; '.join(sorted(told))}"


def test_etgnn_is_no_ucl():
    from eventide.methods.event_detection.etgnn import Etgnn
    from eventide.methods.ucl import Ucl

    assert not issubclass(Etgnn, Ucl)
