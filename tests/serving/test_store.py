"""The store: durable settings, migrations from every version, two writers at once."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import text

from eventide.errors import InputError
from eventide.serving import migrations
from eventide.serving.access_tokens import add_token, list_tokens
from eventide.serving.store import Store, StoreUnavailable


def test_sqlite_is_set_to_keep_what_it_acknowledges(file_store):
    with file_store.reading() as connection:
        assert connection.execute(text("PRAGMA journal_mode")).scalar() == "wal"
        assert connection.execute(text("PRAGMA synchronous")).scalar() == 2


def test_an_older_store_is_brought_up_step_by_step(store_address, monkeypatch):
    steps = migrations.STEPS
    monkeypatch.setattr(migrations, "STEPS", steps[:1])
    old = Store(store_address)
    assert old.version == 1
    add_token(old, "ann", ["read"])
    old.close()
    monkeypatch.setattr(migrations, "STEPS", steps)
    new = Store(store_address)
    assert new.version == len(steps)
    assert [each["name"] for each in list_tokens(new)] == ["ann"]
    assert new.count() == 0
    new.close()
    again = Store(store_address)
    assert again.version == len(steps)
    again.close()
    monkeypatch.setattr(migrations, "STEPS", steps[:1])
    with pytest.raises(InputError, match="update eventide"):
        Store(store_address)


def test_a_block_that_fails_leaves_nothing(store):
    def half():
        with store.writing() as connection:
            connection.execute(text("INSERT INTO tokens VALUES ('a', 'b', 'read', 1, NULL)"))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        half()
    assert list_tokens(store) == []


def test_several_services_on_one_store(store_address):
    """Two of everything: opened at once, written to at once."""
    with ThreadPoolExecutor(4) as pool:
        stores = list(pool.map(Store, [store_address] * 4))
        list(pool.map(lambda at: add_token(stores[at % 4], f"t{at}", ["read"]), range(20)))
    assert len(list_tokens(stores[0])) == 20
    for store in stores:
        store.close()


def test_many_open_a_new_file_at_once(tmp_path):
    """SQLite tells all but one that the file is locked, without waiting: they try again."""
    for attempt in range(30):
        with ThreadPoolExecutor(6) as pool:
            for store in list(pool.map(Store, [tmp_path / f"{attempt}.sqlite"] * 6)):
                store.close()


def test_what_is_no_store_is_said(tmp_path):
    (tmp_path / "text.sqlite").write_text(
        "these are no tables, and there are many words of them" * 20
    )
    with pytest.raises(StoreUnavailable, match="not a database"):
        Store(tmp_path / "text.sqlite")
    with pytest.raises(InputError, match="folder"):
        Store(tmp_path)
    with pytest.raises(InputError, match="not a store"):
        Store("oracle://x")
    with pytest.raises(StoreUnavailable):
        Store("postgresql://nobody@127.0.0.1:1/x")


def test_a_locked_store_is_waited_for(tmp_path):
    path = tmp_path / "desk.sqlite"
    store = Store(path)
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    with ThreadPoolExecutor(1) as pool:
        added = pool.submit(add_token, store, "ann", ["read"])
        assert not added.done()
        other.execute("COMMIT")
        assert added.result(30).startswith("evt_")
    other.close()
    store.close()
