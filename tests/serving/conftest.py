"""A small model, a store of either kind, and a client of a service in this process."""

import shutil
import uuid

import polars as pl
import pytest

from desks import BINARIES, opened, postgres
from eventide.model import EventClassifier
from eventide.serving.live_model import LiveModel
from eventide.serving.store import Store


@pytest.fixture(scope="session")
def model_path(small_sample, tmp_path_factory):
    """A saved model that keeps its texts."""
    path = tmp_path_factory.mktemp("desk") / "model"
    model = EventClassifier(encoder="tfidf-svd:8", training__epochs=3, training__batch_size=64)
    model.fit(small_sample).save(path, keep_text=True)
    return path


@pytest.fixture(scope="session")
def shared_model(model_path):
    return LiveModel(model_path)


@pytest.fixture(scope="session")
def new_messages(small_sample):
    """Messages the model does not know, as a client sends them."""
    new = small_sample.filter(pl.col("split") == "test").sort("created_at")
    return [
        {
            "id": f"new-{row['id']}",
            "text": row["text"],
            "created_at": row["created_at"].strftime("%Y-%m-%dT%H:%M:%SZ"),
            "user": row["user"],
        }
        for row in new.iter_rows(named=True)
    ]


@pytest.fixture(scope="session")
def postgres_server():
    if not BINARIES:
        pytest.skip("PostgreSQL is not installed")
    with postgres() as address:
        yield address


@pytest.fixture(params=["sqlite", "postgresql"])
def store_address(request, tmp_path):
    """Where an empty store may be: a file, or a database of its own on a real server."""
    if request.param == "sqlite":
        return str(tmp_path / "desk.sqlite")
    import psycopg

    server = request.getfixturevalue("postgres_server")
    name = f"t{uuid.uuid4().hex}"
    with psycopg.connect(
        server.replace("+psycopg", ""), dbname="postgres", autocommit=True
    ) as admin:
        admin.execute(f"CREATE DATABASE {name}")
    return f"{server}/{name}"


@pytest.fixture
def store(store_address):
    store = Store(store_address)
    yield store
    store.close()


@pytest.fixture
def file_store(tmp_path):
    store = Store(tmp_path / "desk.sqlite")
    yield store
    store.close()


@pytest.fixture
def desk_client(store, shared_model):
    """A service on either kind of store, and its client."""
    desk, client = opened(store, shared_model)
    with client:
        yield desk, client


@pytest.fixture
def client(desk_client):
    return desk_client[1]


@pytest.fixture
def file_client(file_store, shared_model):
    """The same on a file alone, for what has nothing to do with the database."""
    _, client = opened(file_store, shared_model)
    with client:
        yield client


@pytest.fixture
def own_model(model_path, tmp_path):
    """A copy of the model that a test may change."""
    return LiveModel(shutil.copytree(model_path, tmp_path / "model"))
