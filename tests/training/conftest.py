"""A training_set of 300 messages and a small network on it."""

import pytest
import torch

from eventide.corpus.training_set import prepare_data
from eventide.data import read
from eventide.features.elements import with_elements
from eventide.features.encoders import encoder
from eventide.graphs.settings import GraphSettings
from eventide.graphs.views import PAPER_VIEWS
from eventide.networks.multi_view import MultiViewNetwork
from eventide.networks.settings import NetworkSettings
from eventide.runners.graph_runner import GraphRunner

SMALL = NetworkSettings(layers=(12, 10), head_hidden=8, dropout=0.2, head_dropout=0.1)


@pytest.fixture(scope="session")
def small_training_set(small_sample):
    """The small sample, encoded in 8 numbers a message."""
    return prepare_data(
        with_elements(read(small_sample).messages),
        encoder=encoder("tfidf-svd:8"),
        views=PAPER_VIEWS,
        graph=GraphSettings(),
        inductive=False,
        seed=0,
    ).training_set


@pytest.fixture
def make_runner(small_training_set):
    """Make a fresh network on the small training_set, always with the same first weights."""

    def make(settings: NetworkSettings = SMALL) -> GraphRunner:
        network = MultiViewNetwork(
            features=8,
            classes=small_training_set.classes,
            views=list(small_training_set.corpus.incidences),
            settings=settings,
            seed=0,
        )
        return GraphRunner(network, small_training_set.corpus, GraphSettings(), torch.device("cpu"))

    return make
