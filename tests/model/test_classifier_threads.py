"""Row 1: one model, many threads: everybody gets the own answer, and nothing is left behind."""

import copy
import gc
import pickle
import threading
import warnings
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import polars as pl
import pytest
import torch

import eventide
from eventide.corpus.corpus import Featuriser
from eventide.model import EventClassifier
from eventide.model.explain import explain
from eventide.runtime.threads import threads_for

THREADS = 8
QUICK = {
    "encoder": "tfidf-svd:16",
    "training__epochs": 2,
    "training__batch_size": 64,
    # a network that is still in training mode for some thread gives itself away
    "network__dropout": 0.5,
}
METHODS = ["ucl-ec", "kpgnn", "word2vec"]
SIZES = (1, 1, 1, 1, 1, 3, 1, 1, 6, 1, 40)


@pytest.fixture(scope="module")
def known_and_new(small_sample):
    """Messages to fit, and others, never seen."""
    new = pl.int_range(pl.len()) % 5 == 4
    return small_sample.filter(~new), small_sample.filter(new)


@pytest.fixture(scope="module", params=METHODS)
def fitted(request, known_and_new):
    return EventClassifier(method=request.param, **QUICK).fit(known_and_new[0])


@pytest.fixture(scope="module")
def path(fitted, tmp_path_factory):
    return fitted.save(tmp_path_factory.mktemp("models") / fitted.method)


@pytest.fixture(scope="module")
def requests(known_and_new):
    """Frames of mixed sizes, most of one new message, some with remembered ones among them."""
    random = np.random.default_rng(0)
    known, new = known_and_new
    mixed = pl.concat([new, known.sample(20, seed=0)])
    return [mixed[random.choice(len(mixed), size, replace=False)] for size in SIZES * 18]


@pytest.fixture(scope="module")
def expected(path, requests):
    """What a copy of the model answers to one request after the other."""
    alone = eventide.load(path)
    return [alone.predict_proba(frame) for frame in requests]


def together(ask, requests):
    """Ask for everything at once, all threads starting at the same moment."""
    start = threading.Barrier(THREADS, timeout=60)

    def work(number):
        start.wait()
        return [(each, ask(requests[each])) for each in range(number, len(requests), THREADS)]

    with ThreadPoolExecutor(THREADS) as pool:
        answers = dict(pair for part in pool.map(work, range(THREADS)) for pair in part)
    return [answers[each] for each in range(len(requests))]


@pytest.mark.parametrize("kind", ["fitted", "loaded"])
def test_threads_get_their_own_answers(kind, fitted, path, requests, expected):
    """Row 1: a few hundred small requests from eight threads, against one after the other."""
    model = fitted if kind == "fitted" else eventide.load(path)
    for one, other in zip(together(model.predict_proba, requests), expected, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)


def test_opinions_and_explanations_too(known_and_new):
    """Row 1: what is shown of the views comes from the same message."""
    known, new = known_and_new
    model = EventClassifier(**QUICK).fit(known)
    requests = [new[[row]] for row in range(24)]
    expected = [(model.opinions(each), explain(model, each)) for each in requests]
    found = together(lambda each: (model.opinions(each), explain(model, each)), requests)
    for (opinion, why), (opinion_alone, why_alone) in zip(found, expected, strict=True):
        assert opinion.drop(pl.selectors.float()).equals(opinion_alone.drop(pl.selectors.float()))
        assert why.id == why_alone.id
        assert [view.neighbours for view in why.views] == [
            view.neighbours for view in why_alone.views
        ]


def test_the_last_callers_messages_are_not_kept_alive(fitted, known_and_new, monkeypatch):
    """Row 1: a model holds nothing of what it was asked."""
    asked = []
    prepare = Featuriser.prepare

    def noted(self, messages, *given, **named):
        corpus = prepare(self, messages, *given, **named)
        asked.extend([weakref.ref(corpus), weakref.ref(corpus.source)])
        return corpus

    monkeypatch.setattr(Featuriser, "prepare", noted)
    for size in (1, 40):
        fitted.opinions(known_and_new[1].head(size))
    gc.collect()
    assert len(asked) == 4
    assert all(each() is None for each in asked)


def test_validation_messages_are_not_kept_after_an_inductive_fit(known_and_new):
    """Row 1: the look-up that serves all epochs ends with the training."""
    model = EventClassifier(protocol="inductive", **QUICK).fit(known_and_new[0])
    del model.remembered_
    gc.collect()
    held = [each for each in gc.get_objects() if type(each).__name__ == "NewMessages"]
    assert not held


def test_a_fitted_model_rests_in_evaluation_mode(fitted, path):
    """Row 1: a switch of modes in the first prediction would reach the others in the middle."""
    for model in (fitted, eventide.load(path)):
        network = model.method_.runner.network
        assert not any(module.training for module in network.modules())


def test_threads_leave_the_filters_of_warnings_alone(fitted, requests):
    """Row 1: ``catch_warnings`` in threads may leave its filters behind for good."""
    before = list(warnings.filters)
    together(fitted.predict, requests[:60])
    assert warnings.filters == before


def test_a_model_can_still_be_copied(known_and_new):
    model = EventClassifier(**QUICK).fit(known_and_new[0])
    new = known_and_new[1].head(3)
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(model.predict_proba(new), other.predict_proba(new))


@pytest.fixture
def two_threads():
    """Torch with two threads, as outside the tests."""
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def in_thread(work):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result()


def test_a_thread_that_comes_meanwhile_is_not_cut_to_one_thread(two_threads):
    """Row 1: torch gives a new thread the number that is set when it first asks."""
    with threads_for(1):
        assert torch.get_num_threads() == 1
        assert in_thread(torch.get_num_threads) == 2
    assert torch.get_num_threads() == 2


def test_what_the_user_sets_meanwhile_stays(two_threads):
    """Row 1: nobody's number is overwritten by one that was noted earlier."""
    inside, leave = threading.Event(), threading.Event()

    def predict():
        with threads_for(1):
            inside.set()
            assert leave.wait(60)

    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(predict)
        assert inside.wait(60)
        torch.set_num_threads(3)
        leave.set()
        done.result(60)
        assert torch.get_num_threads() == 3
        assert in_thread(torch.get_num_threads) == 3


def test_the_number_of_threads_survives_errors_and_crowds(two_threads):
    """Row 1: whoever leaves has the number back, in whatever order they come and go."""

    def visit(seed):
        random = np.random.default_rng(seed)
        for _ in range(50):
            try:
                with threads_for(int(random.integers(1, 40))):
                    if random.random() < 0.3:
                        raise ValueError
            except ValueError:
                pass
            if torch.get_num_threads() != 2:
                return False
        return True

    with ThreadPoolExecutor(THREADS) as pool:
        assert all(pool.map(visit, range(THREADS)))
    assert torch.get_num_threads() == 2


def test_many_messages_may_use_all_threads(two_threads):
    with threads_for(1000):
        assert torch.get_num_threads() == 2
