"""Deciding on candidates: accept, dismiss, merge into an event or another candidate, undo."""

import json

import pytest

from desks import NEWS, Sceptic, opened


@pytest.fixture
def filled(store, shared_model):
    """Two candidates of four messages each, and their client."""
    desk, client = opened(store, Sceptic(shared_model))
    with client:
        sent = [
            {"id": f"{topic[0]}{at}", "text": f"{text} {at}x", "user": "u"}
            for topic, text in NEWS.items()
            for at in range(4)
        ]
        assert client.post("/v1/messages", json=sent).status_code == 201
        desk.grouping.catch_up()
        desk.changed("candidates")
        found = client.get("/v1/candidates").json()["candidates"]
        first, second = sorted(found, key=lambda each: "crane" not in each["keywords"])
        yield client, first["id"], second["id"]


def listed(client, state="open"):
    found = client.get("/v1/candidates", params={"state": state}).json()["candidates"]
    return {each["id"]: each["messages"] for each in found}


def test_an_accepted_candidate_is_an_event(filled):
    client, first, second = filled
    where = f"/v1/candidates/{first}"
    made = client.post(where, json={"action": "accept", "event": "crane"}).json()
    assert made == {"id": first, "state": "accepted", "event": "crane", "reviewed": 4}
    assert listed(client) == {second: 4}
    assert listed(client, "accepted") == {first: 4}
    refused = client.post(where, json={"action": "dismiss"})
    assert refused.status_code == 422
    assert "undo" in refused.json()["next"]
    lines = client.get("/v1/export", params={"what": "labels"}).text.splitlines()
    assert {json.loads(line)["event"] for line in lines} == {"crane"}
    events = {each["event"]: each for each in client.get("/v1/events").json()["events"]}
    assert events["crane"]["messages"] == 4


def test_without_a_name_the_proposed_one_is_taken(filled):
    client, first, _ = filled
    (proposed,) = (
        each["name"]
        for each in client.get("/v1/candidates").json()["candidates"]
        if each["id"] == first
    )
    made = client.post(f"/v1/candidates/{first}", json={"action": "accept"}).json()
    assert made["event"] == proposed


def test_what_a_person_said_of_one_message_stands(filled):
    client, first, _ = filled
    event = next(iter(client.get("/v1/model").json()["events"]))
    client.post("/v1/review/c0", json={"action": "relabel", "event": event})
    assert listed(client)[first] == 3
    made = client.post(f"/v1/candidates/{first}", json={"action": "accept", "event": "x"}).json()
    assert made["reviewed"] == 3
    assert client.get("/v1/messages/c0").json()["assigned"] == event
    undone = client.post(f"/v1/candidates/{first}", json={"action": "undo"}).json()
    assert undone == {"id": first, "state": "open", "event": None, "reviewed": 3}
    assert client.get("/v1/messages/c0").json()["assigned"] == event
    assert client.get("/v1/messages/c1").json()["review"] is None
    assert listed(client)[first] == 3
    for at in (1, 2, 3):  # whatever is reviewed one by one need not be decided together
        client.post(f"/v1/review/c{at}", json={"action": "unknown"})
    assert first not in listed(client)


def test_merging_into_an_event_or_another_candidate(filled):
    client, first, second = filled
    where = f"/v1/candidates/{second}"
    for wrong in ({"event": "nothing"}, {}, {"candidate": second}):
        assert client.post(where, json={"action": "merge"} | wrong).status_code == 422
    made = client.post(where, json={"action": "merge", "candidate": first}).json()
    assert made == {"id": first, "state": "open", "event": None, "reviewed": 0}
    assert listed(client) == {first: 8}
    (shown,) = client.get("/v1/candidates").json()["candidates"]
    assert shown["merged"] == [second]
    event = next(iter(client.get("/v1/model").json()["events"]))
    into = client.post(where, json={"action": "merge", "event": event}).json()  # the old id too
    assert into == {"id": first, "state": "accepted", "event": event, "reviewed": 8}
    assert client.get("/v1/messages/b0").json()["review"]["action"] == "relabel"
    assert client.post("/v1/candidates/c9999", json={"action": "accept"}).status_code == 404


def test_a_candidate_merged_into_a_decided_one_is_decided(filled):
    client, first, second = filled
    client.post(f"/v1/candidates/{first}", json={"action": "dismiss"})
    merge = {"action": "merge", "candidate": first}
    made = client.post(f"/v1/candidates/{second}", json=merge).json()
    assert made == {"id": first, "state": "dismissed", "event": None, "reviewed": 4}
    assert listed(client) == {}
    assert client.get("/v1/model").json()["reviews"] == {"unknown": 8}
