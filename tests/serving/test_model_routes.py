"""The model: what it says of itself, trust, drift, map; reading it again."""

import pytest

from desks import opened


@pytest.fixture
def filled(client, new_messages):
    assert client.post("/v1/messages", json=new_messages[:60]).status_code == 201
    return client


def test_model_drift_and_map(filled, shared_model):
    model = filled.get("/v1/model").json()
    assert model["stored"] == 60
    assert model["version"] == shared_model.now.version
    drift = filled.get("/v1/drift").json()
    assert drift["messages"] == 60
    assert sum(each["stream"] for each in drift["events"]["shares"]) == pytest.approx(1)
    assert drift["doubt"]["index"] >= 0
    found = filled.get("/v1/map", params={"limit": 20}).json()
    assert len(found["messages"]) == 20
    assert {each["event"] for each in found["prototypes"]} == set(model["events"])
    assert all(-1.0001 <= each["x"] <= 1.0001 for each in found["memory"])


def test_trust_is_of_validation_or_reviewed_messages(filled):
    kept = filled.get("/v1/trust").json()
    assert kept["source"] == "validation"
    assert kept["curve"][-1]["coverage"] == 1
    assert kept["curve"][-1]["accuracy"] == pytest.approx(kept["accuracy"])
    assert sum(each["messages"] for each in kept["reliability"]) == kept["messages"]
    queue = filled.get("/v1/review", params={"limit": 4}).json()["messages"]
    for message, action in zip(queue, ("accept", "accept", "unknown", "accept"), strict=True):
        filled.post(f"/v1/review/{message['id']}", json={"action": action})
    reviewed = filled.get("/v1/trust", params={"source": "reviewed"}).json()
    assert reviewed["messages"] == 4
    assert reviewed["accuracy"] == 0.75
    assert filled.get("/v1/trust", params={"source": "held-out"}).status_code == 422


def test_held_out_messages_are_predicted(store, shared_model, small_sample, tmp_path):
    small_sample.write_parquet(tmp_path / "labelled.parquet")
    _, client = opened(store, shared_model, held_out=str(tmp_path / "labelled.parquet"))
    with client:
        told = client.get("/v1/trust").json()
    assert told["source"] == "held-out"
    assert told["messages"] == small_sample.filter(small_sample["split"] == "test").height


def test_a_reload_drops_no_request(store, own_model, new_messages):
    """Threads send while the model is read again: every one gets its answer."""
    from concurrent.futures import ThreadPoolExecutor

    _, client = opened(store, own_model)
    with client, ThreadPoolExecutor(4) as pool:
        sending = [
            pool.submit(client.post, "/v1/messages", json=each) for each in new_messages[:24]
        ]
        versions = [client.post("/v1/model/reload").json()["version"] for _ in range(3)]
        assert [each.result().status_code for each in sending] == [201] * 24
    assert len(set(versions)) == 1


def test_a_broken_folder_on_reload_leaves_the_old_model(store, own_model, new_messages):
    _, client = opened(store, own_model)
    with client:
        before = client.get("/v1/model").json()["version"]
        (own_model.path / "manifest.json").write_text("{}")
        answer = client.post("/v1/model/reload")
        assert answer.status_code in (422, 500)
        assert "manifest" in answer.text or "damaged" in answer.text
        assert client.get("/v1/model").json()["version"] == before
        assert client.post("/v1/messages", json=new_messages[0]).status_code == 201
        for file in own_model.path.iterdir():
            file.unlink()
        assert client.post("/v1/model/reload").status_code in (422, 500)
        assert client.post("/v1/messages", json=new_messages[1]).status_code == 201
