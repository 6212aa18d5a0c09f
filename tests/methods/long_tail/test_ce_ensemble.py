"""The ensemble: its members, the mean of their probabilities, checkpoints, what it says of itself."""

import numpy as np
import polars as pl
import pytest

import eventide
from eventide.errors import InputError
from eventide.methods.long_tail.ce_ensemble import MEMBERS, CeEnsemble, member_seeds
from eventide.model import EventClassifier
from eventide.settings import resolve

FAST = {
    "encoder": "tfidf-svd:8",
    "training__epochs": 3,
    "training__batch_size": 64,
    "network__layers": (16, 16),
    "network__head_hidden": 8,
}


@pytest.fixture(scope="module")
def fitted(small_sample):
    return EventClassifier(method="ce-ensemble", seed=4, **FAST).fit(small_sample)


def test_members_have_seeds_of_their_own_and_the_first_is_ce(small_sample, fitted):
    seeds = member_seeds(4)
    assert len(set(seeds)) == MEMBERS == 5
    assert seeds != member_seeds(5)
    alone = EventClassifier(method="ce", seed=4, **FAST).fit(small_sample)
    own, first = alone.method_.state(), fitted.method_.members[0].state()
    assert all((own[name] == first[name]).all() for name in own)
    weights = [m.state()["network.heads.0.hidden.weight"] for m in fitted.method_.members]
    assert len({each.tobytes() for each in weights}) == MEMBERS


@pytest.mark.parametrize("new", [False, True])
def test_probabilities_are_the_mean_of_the_members(fitted, small_sample, new):
    method = fitted.method_
    rows = np.arange(0, 60, 7)
    corpus = fitted.featuriser_.prepare(fitted.intake(small_sample[rows]).messages) if new else None
    ask = (lambda each: each.predict_new(corpus)) if new else (lambda each: each.predict(rows))
    said = ask(method)
    members = [ask(each) for each in method.members]
    mean = sum(each.probability for each in members) / MEMBERS
    np.testing.assert_allclose(said.probability, mean, atol=1e-12)
    entropy = -(mean * np.log(mean)).sum(axis=1) / np.log(mean.shape[1])
    np.testing.assert_allclose(said.uncertainty, entropy, atol=1e-9)
    assert list(said.views) == list(members[0].views)
    for view, each in said.views.items():
        assert (each.neighbours == members[0].views[view].neighbours).all()


def test_rows_of_the_history_name_their_member(fitted):
    history = fitted.history_
    assert [row["epoch"] for row in history] == list(range(1, len(history) + 1))
    assert [row["member"] for row in history] == [m for m in range(1, 6) for _ in range(3)]
    assert 13 <= fitted.best_epoch_ <= 15
    assert CeEnsemble.note == "5 members"
    assert CeEnsemble.defaults == {}


def test_an_interrupted_run_goes_on_with_the_member_it_was_at(small_sample, fitted, tmp_path):
    class Interrupted(Exception):
        pass

    def stop(row):
        if row["epoch"] == 5:
            raise Interrupted

    path = tmp_path / "run"
    model = EventClassifier(method="ce-ensemble", seed=4, **FAST)
    with pytest.raises(Interrupted):
        model.fit(small_sample, checkpoints=path, watch=stop)
    assert sorted(each.name for each in path.glob("phase-*")) == ["phase-1", "phase-2"]
    model = EventClassifier(method="ce-ensemble", seed=4, **FAST)
    model.fit(small_sample, checkpoints=path, resume=True)
    assert len(model.history_) == len(fitted.history_)
    before, after = fitted.method_.state(), model.method_.state()
    assert all((before[name] == after[name]).all() for name in before)


def test_what_asks_for_one_network_is_refused(fitted, small_sample):
    with pytest.raises(InputError, match="'ce-ensemble' has no views to explain"):
        fitted.explain(small_sample[:5])


def test_stored_states_of_nobody_are_refused(fitted):
    states = fitted.method_.memory_states()
    with pytest.raises(ValueError, match="no member"):
        fitted.method_.recall_states(states | {"member9.layer1": np.zeros((1, 1))})


def test_a_saved_ensemble_does_not_run_its_memory_again(fitted, small_sample, tmp_path):
    loaded = eventide.load(fitted.save(tmp_path / "model"))
    new = small_sample[::9].with_columns(id=pl.lit("x") + pl.col("id"))
    np.testing.assert_array_equal(loaded.predict_proba(new), fitted.predict_proba(new))
    assert len(loaded.method_.members) == MEMBERS
    assert resolve(CeEnsemble.defaults) == resolve()
