"""No locked message reaches tuning, an encoder, early stopping or training, in any regime."""

from typing import ClassVar

import numpy as np
import polars as pl
import pytest

from eventide.experiments import Variant, read_experiment_data
from eventide.experiments.engine import compare_regimes
from eventide.experiments.regimes import REGIMES
from eventide.features.encoders import ENCODERS
from eventide.features.encoders.tfidf_svd import TfidfSvd
from eventide.methods import METHODS
from eventide.methods.baselines.nearest_in_time import NearestInTime
from eventide.registry import Registry

HERE = "test_regimes_lock_seen"


class Seen:
    """What was shown to the encoder and to the method, by id."""

    fitted: ClassVar[set[str]] = set()
    encoded: ClassVar[set[str]] = set()
    remembered: ClassVar[set[str]] = set()
    validated: ClassVar[set[str]] = set()

    @classmethod
    def forget(cls):
        for each in (cls.fitted, cls.encoded, cls.remembered, cls.validated):
            each.clear()


class WatchedEncoder(TfidfSvd):
    def fit(self, messages):
        Seen.fitted.update(messages["id"])
        return super().fit(messages)

    def encode(self, messages):
        Seen.encoded.update(messages["id"])
        return super().encode(messages)


class WatchedMethod(NearestInTime):
    def fit(self, training_set, watch, checkpoints):
        Seen.remembered.update(training_set.corpus.source["id"])
        validation = training_set.validation
        if validation.corpus is not None:
            Seen.validated.update(validation.corpus.source["id"])
        else:
            Seen.validated.update(training_set.corpus.source["id"].gather(validation.rows))
        return super().fit(training_set, watch, checkpoints)


@pytest.fixture
def watched(monkeypatch):
    """Registers the two, and takes them away again."""
    import sys
    from types import ModuleType

    module = ModuleType(HERE)
    module.WatchedEncoder, module.WatchedMethod = WatchedEncoder, WatchedMethod
    monkeypatch.setitem(sys.modules, HERE, module)
    for registry, name, kind in (
        (ENCODERS, "watched", "WatchedEncoder"),
        (METHODS, "watched", "WatchedMethod"),
    ):
        _register(monkeypatch, registry, name, f"{HERE}:{kind}")
    Seen.forget()
    return Variant("watched", "watched")


def _register(monkeypatch, registry: Registry, name: str, target: str) -> None:
    monkeypatch.setattr(registry, "_entries", dict(registry._entries))
    registry.add(name, target, "watched", "test")


@pytest.fixture(scope="module")
def data(small_sample):
    return read_experiment_data(small_sample.drop("split"))


@pytest.mark.parametrize("name", [name for name in REGIMES if name != "weak-vectors"])
def test_locked_messages_are_only_ever_tested(name, data, watched, tmp_path):
    locked = set(data.messages.filter(pl.Series(data.lock.mask))["id"])
    options = {"out": tmp_path, "workers": 1, "encoder": "watched"}
    results = compare_regimes(data, [watched], [0], [name], **options)
    assert not results.failures
    assert Seen.fitted
    assert Seen.validated
    for seen in (Seen.fitted, Seen.remembered, Seen.validated):
        assert not seen & locked
    # They are encoded, to be tested; and nothing else is tested.
    tested = Seen.encoded - Seen.remembered - Seen.validated
    assert tested
    assert tested <= locked


@pytest.mark.parametrize("name", ["random", "chronological", "scarce-10"])
def test_while_tuning_locked_messages_are_not_there_at_all(name, data, watched, tmp_path):
    locked = set(data.messages.filter(pl.Series(data.lock.mask))["id"])
    options = {"out": tmp_path, "workers": 1, "encoder": "watched", "tuning": True}
    results = compare_regimes(data, [watched], [0], [name], **options)
    assert not results.failures
    assert Seen.encoded
    assert not (Seen.fitted | Seen.encoded | Seen.remembered | Seen.validated) & locked
    assert results.tuning


def test_the_pools_share_no_tested_message(data):
    locked, tuning = data.locked_pool, data.tuning_pool
    whose = dict(zip(locked.messages["id"], locked.groups.tolist(), strict=True))
    reported = {whose[each] for each in locked.messages.filter(pl.Series(locked.tested))["id"]}
    chosen_on = {whose[each] for each in tuning.messages["id"]}
    assert not reported & chosen_on
    assert np.any(tuning.tested)
