"""Tokens: every route without one, with a wrong one, and with one that is too weak."""

import pytest

from desks import opened
from eventide.errors import InputError
from eventide.serving.access_tokens import add_token, list_tokens, read_token_file, revoke_token
from eventide.serving.server import check_access

OPEN = {"/healthz", "/readyz", "/v1/me", "/openapi.json"}
NEEDS = {
    ("post", "/v1/messages"): "ingest",
    ("post", "/v1/review/{message_id}"): "review",
    ("post", "/v1/candidates/{candidate_id}"): "review",
    ("post", "/v1/model/reload"): "review",
    ("post", "/v1/model/learn"): "review",
    ("post", "/v1/model/restore"): "review",
    ("delete", "/v1/users/{name}"): "review",
}


@pytest.fixture
def guarded(store, shared_model):
    tokens = {role: add_token(store, role, [role]) for role in ("read", "ingest", "review")}
    _, client = opened(store, shared_model, need_token=True)
    with client:
        yield client, tokens


def routes(client):
    for path, methods in client.get("/openapi.json").json()["paths"].items():
        for method in methods:
            yield method, path


def test_every_route_without_with_a_wrong_and_with_a_too_weak_token(guarded):
    client, tokens = guarded
    seen = 0
    for method, path in routes(client):
        address = (
            path.replace("{message_id}", "x").replace("{candidate_id}", "x").replace("{name}", "x")
        )

        def status(token=None, method=method, address=address):
            headers = {} if token is None else {"Authorization": f"Bearer {token}"}
            return client.request(method.upper(), address, headers=headers).status_code

        if path in OPEN:
            assert status() == 200, path
            continue
        seen += 1
        assert status() == 401, path
        assert status("evt_wrong") == 401, path
        assert status("") == 401, path
        need = NEEDS.get((method, path), "read")
        for role, token in tokens.items():
            enough = role == need or (need, role) == ("read", "review")
            if not enough:
                assert status(token) == 403, (path, role)
            elif path != "/v1/updates" and not path.startswith("/v1/model/"):
                assert status(token) not in (401, 403), (path, role)
    assert seen >= 18


def test_tokens_are_hashed_listed_and_revoked(store):
    token = add_token(store, "ann", ["read", "ingest"])
    with store.reading() as connection:
        rows = str(connection.exec_driver_sql("SELECT * FROM tokens").all())
    assert token not in rows
    assert token.removeprefix("evt_") not in rows
    assert [(each["name"], each["roles"]) for each in list_tokens(store)] == [
        ("ann", ["read", "ingest"])
    ]
    with pytest.raises(InputError, match="already"):
        add_token(store, "ann", ["read"])
    with pytest.raises(InputError, match="no role"):
        add_token(store, "bob", ["admin"])
    revoke_token(store, "ann")
    assert list_tokens(store)[0]["revoked_at"]
    with pytest.raises(InputError, match="no active token"):
        revoke_token(store, "ann")


def test_a_revoked_token_is_refused_soon(file_store, shared_model, monkeypatch):
    monkeypatch.setattr("eventide.serving.access_tokens.FRESH_SECONDS", -1.0)
    token = add_token(file_store, "ann", ["read"])
    _, client = opened(file_store, shared_model)
    with client:
        head = {"Authorization": f"Bearer {token}"}
        assert client.get("/v1/messages", headers=head).status_code == 200
        assert client.get("/v1/messages").status_code == 401  # a token exists, so one is needed
        revoke_token(file_store, "ann")
        assert client.get("/v1/messages", headers=head).status_code == 401


def test_other_machines_need_a_token(file_store, shared_model, tmp_path):
    desk, _ = opened(file_store, shared_model, host="0.0.0.0")
    with pytest.raises(InputError, match="eventide token add"):
        check_access(desk)
    file = tmp_path / "tokens"
    file.write_text("# who may\nann review,ingest 0123456789abcdef01234567\n")
    (holder,) = read_token_file(file).values()
    assert holder.allows == {"read", "review", "ingest"}
    file.write_text("ann review short\n")
    with pytest.raises(InputError, match="line 1"):
        read_token_file(file)
    add_token(file_store, "ann", ["read"])
    check_access(opened(file_store, shared_model, host="0.0.0.0")[0])
