"""A problem of 300 messages and a small network on it."""

import pytest
import torch

from eventide.corpus.training_set import study
from eventide.data import read
from eventide.features.elements import with_elements
from eventide.features.encoders import encoder
from eventide.graphs.settings import GraphSettings
from eventide.graphs.views import PAPER_VIEWS
from eventide.networks.multi_view import MultiViewNetwork
from eventide.networks.settings import NetworkSettings
from eventide.runners.graph_runner import MultiViewStage

SMALL = NetworkSettings(layers=(12, 10), head_hidden=8, dropout=0.2, head_dropout=0.1)


@pytest.fixture(scope="session")
def small_problem(small_sample):
    """The small sample, encoded in 8 numbers a message."""
    return study(
        with_elements(read(small_sample).messages),
        encoder=encoder("tfidf-svd:8"),
        views=PAPER_VIEWS,
        graph=GraphSettings(),
        inductive=False,
        seed=0,
    ).problem


@pytest.fixture
def make_stage(small_problem):
    """Make a fresh network on the small problem, always with the same first weights."""

    def make(settings: NetworkSettings = SMALL) -> MultiViewStage:
        network = MultiViewNetwork(
            features=8,
            classes=small_problem.classes,
            views=list(small_problem.corpus.incidences),
            settings=settings,
            seed=0,
        )
        return MultiViewStage(network, small_problem.corpus, GraphSettings(), torch.device("cpu"))

    return make
