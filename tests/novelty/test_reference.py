"""Comparisons with the labelled messages agree with plain loops."""

import numpy as np

from eventide.arrays import unit_rows
from eventide.corpus.corpus import Corpus
from eventide.graphs.incidence import Incidence
from eventide.novelty.reference import NEAREST, Reference


def corpus(vectors, sets):
    none = np.zeros(len(vectors), dtype="S16")
    incidences = {"tags": Incidence.of(sets)}
    times = np.zeros(len(vectors), dtype=np.int64)
    return Corpus(vectors.astype(np.float32), times, incidences, none, none, none)


def test_cosines_and_elements_are_those_of_plain_loops():
    random = np.random.default_rng(0)
    vectors, labels = random.normal(size=(40, 5)), random.integers(-1, 3, 40)
    sets = [[f"e{each}" for each in random.choice(9, 2, replace=False)] for _ in range(40)]
    fresh, met = random.normal(size=(6, 5)), [["e0", "e1", "zz"]] * 5 + [[]]
    found = Reference(corpus(vectors, sets), labels, 3).compare(corpus(fresh, met))
    unit, new = unit_rows(vectors), unit_rows(fresh)
    for each in range(3):
        own = np.sort(new @ unit[labels == each].T, axis=1)[:, ::-1][:, :NEAREST]
        np.testing.assert_allclose(found.nearest[:, each, : own.shape[1]], own, atol=1e-6)
        mean = unit[labels == each].mean(axis=0)
        np.testing.assert_allclose(
            found.centroid[:, each], new @ mean / np.linalg.norm(mean), atol=1e-6
        )
    assert found.elements.tolist() == [3] * 5 + [0]
    holders = {
        tag: {int(label) for label, own in zip(labels, sets, strict=True) if tag in own} - {-1}
        for tag in met[0]
    }
    assert found.unknown[0] == sum(not each for each in holders.values())
    for each in range(3):
        assert found.own[0, each] == sum(held == {each} for held in holders.values())


def test_a_message_is_compared_by_itself():
    random = np.random.default_rng(1)
    memory = corpus(random.normal(size=(30, 4)), [["a"]] * 30)
    reference = Reference(memory, np.arange(30) % 3, 3)
    fresh = corpus(random.normal(size=(5, 4)), [["a"], ["b"], [], ["a", "b"], ["c"]])
    whole, alone = reference.compare(fresh), reference.compare(fresh.take(np.array([3])))
    np.testing.assert_allclose(whole.nearest[3], alone.nearest[0], atol=1e-6)
    assert (whole.unknown[3], whole.elements[3]) == (alone.unknown[0], alone.elements[0])
