"""The verbs of the desk: tokens, learning, and what is refused before anything slow."""

import json
import socket

import pytest


@pytest.fixture
def store(tmp_path):
    return tmp_path / "desk.sqlite"


def test_a_token_is_printed_once_listed_and_revoked(invoke, store):
    made = invoke("token", "add", "ann", "--role", "review", "--store", store)
    assert made.exit_code == 0
    token = made.stdout.strip()
    assert token.startswith("evt_")
    listed = invoke("token", "list", "--store", store, "--json")
    assert [each["name"] for each in json.loads(listed.stdout)] == ["ann"]
    assert token not in listed.stdout
    assert "review" in invoke("token", "list", "--store", store).stdout
    assert invoke("token", "revoke", "ann", "--store", store).exit_code == 0
    assert "revoked" in invoke("token", "list", "--store", store).stdout


def test_the_store_can_come_from_the_environment(invoke, store, monkeypatch):
    monkeypatch.setenv("EVENTIDE_STORE", str(store))
    assert invoke("token", "list").stdout == "no token\n"
    assert store.exists()


def refused(done, *words):
    assert done.exit_code != 0
    told = str(done.exception) + done.stderr
    for word in words:
        assert word in told


def test_what_cannot_be_served_is_said_at_once(invoke, trained, store, tmp_path):
    model = trained / "model"
    refused(invoke("serve", tmp_path / "no-model", "--store", store, "--port", "0"), "no-model")
    refused(invoke("serve", model, "--held-out", tmp_path / "none.csv", "--port", "0"), "none.csv")
    refused(
        invoke("serve", model, "--store", store, "--host", "0.0.0.0", "--port", "0"), "token add"
    )
    refused(invoke("serve", model, "--token-file", tmp_path / "none"), "NAME ROLE")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        refused(invoke("serve", model, "--store", store, "--port", port), "--port")
        refused(invoke("demo", "--serve", "--port", port, "--out", tmp_path / "d"), "--port")
    refused(invoke("token", "add", "x", "--role", "king", "--store", store), "king")


def test_nothing_to_learn_and_nothing_to_undo(invoke, trained, store):
    refused(invoke("learn", trained / "model", "--store", store), "review messages first")
    refused(invoke("learn", trained / "model", "--store", store, "--undo"), "no model from before")
