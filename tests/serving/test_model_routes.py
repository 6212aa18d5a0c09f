"""The model: what it says of itself, trust, drift, map; learning from reviews and going back."""

import time

import pytest

from desks import opened


@pytest.fixture
def filled(file_client, new_messages):
    assert file_client.post("/v1/messages", json=new_messages[:60]).status_code == 201
    return file_client


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


def test_trust_is_of_validation_or_reviewed_messages(filled, file_store):
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


def test_held_out_messages_are_predicted(file_store, shared_model, small_sample, tmp_path):
    small_sample.write_parquet(tmp_path / "labelled.parquet")
    _, client = opened(file_store, shared_model, held_out=str(tmp_path / "labelled.parquet"))
    with client:
        told = client.get("/v1/trust").json()
    assert told["source"] == "held-out"
    assert told["messages"] == small_sample.filter(small_sample["split"] == "test").height


@pytest.mark.slow
def test_reviews_become_a_model_and_the_old_one_comes_back(store, own_model, new_messages):
    _, client = opened(store, own_model, epochs=3 if store.is_sqlite else None)
    with client:
        client.post("/v1/messages", json=new_messages[:20])
        before = client.get("/v1/model").json()
        assert client.post("/v1/model/restore").status_code == 422
        for message in client.get("/v1/review").json()["messages"][:5]:
            client.post(
                f"/v1/review/{message['id']}", json={"action": "new-event", "event": "pier-fire"}
            )
        assert client.post("/v1/model/learn").status_code == 202
        deadline = time.monotonic() + 300
        while client.get("/v1/model").json()["job"]["state"] == "running":
            assert time.monotonic() < deadline
            assert client.get("/healthz").status_code == 200  # it goes on answering
            time.sleep(0.3)
        after = client.get("/v1/model").json()
        assert after["job"]["state"] == "done", after["job"]
        assert "pier-fire" in after["events"]
        report = after["learnings"][0]["report"]
        assert report["new_events"] == ["pier-fire"]
        assert report["labels"] == report["reviewed"] == 5
        versions = {
            each["opinion"]["model"]
            for each in client.get("/v1/messages?reviewed=false").json()["messages"]
        }
        assert versions == {after["version"]}
        client.post("/v1/model/restore")
        back = client.get("/v1/model").json()
        assert back["events"] == before["events"]
        assert "pier-fire" not in back["events"]


def test_nothing_to_learn_says_so(file_client):
    file_client.post("/v1/model/learn")
    deadline = time.monotonic() + 120
    while (job := file_client.get("/v1/model").json()["job"])["state"] == "running":
        assert time.monotonic() < deadline
        time.sleep(0.2)
    assert job["state"] == "failed"
    assert "nobody has given a label" in job["error"]


def test_a_reload_drops_no_request(file_store, own_model, new_messages):
    """Threads send while the model is read again: every one gets its answer."""
    from concurrent.futures import ThreadPoolExecutor

    _, client = opened(file_store, own_model)
    with client, ThreadPoolExecutor(4) as pool:
        sending = [
            pool.submit(client.post, "/v1/messages", json=each) for each in new_messages[:24]
        ]
        versions = [client.post("/v1/model/reload").json()["version"] for _ in range(3)]
        assert [each.result().status_code for each in sending] == [201] * 24
    assert len(set(versions)) == 1
