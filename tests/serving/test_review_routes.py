"""Reviews: kept, changed, undone; the queue; events."""

import pytest


@pytest.fixture
def filled(client, new_messages):
    assert client.post("/v1/messages", json=new_messages[:30]).status_code == 201
    return client


def test_the_queue_is_ranked_says_why_and_gets_shorter(filled):
    page = filled.get("/v1/review", params={"limit": 10}).json()
    levels = [each["priority"] for each in page["messages"]]
    assert levels == sorted(levels, reverse=True)
    assert all(any("doubt" in why for why in each["why"]) for each in page["messages"])
    rest = filled.get("/v1/review", params={"limit": 100, "cursor": page["next"]}).json()
    assert len({each["id"] for each in page["messages"] + rest["messages"]}) == 30
    first = page["messages"][0]
    filled.post(f"/v1/review/{first['id']}", json={"action": "accept"})
    again = filled.get("/v1/review", params={"limit": 100}).json()
    assert first["id"] not in [each["id"] for each in again["messages"]]
    assert again["counts"] == {"accept": 1, "open": 29}


def test_reviews_are_kept_and_undone_one_by_one(filled):
    page = filled.get("/v1/review").json()
    message, events = page["messages"][0], page["events"]
    own = message["opinion"]["event"]
    other = next(event for event in events if event != own)
    where = f"/v1/review/{message['id']}"

    def said(**review):
        return filled.post(where, json=review).json()

    assert said(action="accept")["assigned"] == own
    assert said(action="relabel", event=other)["assigned"] == other
    unknown = said(action="unknown")
    assert unknown["assigned"] is None
    assert unknown["review"]["action"] == "unknown"
    assert said(action="undo")["assigned"] == other
    assert said(action="undo")["assigned"] == own
    back = said(action="undo")
    assert back["review"] is None
    assert back["assigned"] == message["assigned"]
    assert filled.post(where, json={"action": "undo"}).status_code == 422


def test_a_new_event_can_then_be_chosen_for_others(filled):
    first, second = filled.get("/v1/review").json()["messages"][:2]
    named = {"action": "relabel", "event": "harbour-fire"}
    assert filled.post(f"/v1/review/{first['id']}", json=named).status_code == 422
    assert (
        filled.post(f"/v1/review/{first['id']}", json=named | {"action": "new-event"}).status_code
        == 200
    )
    assert filled.post(f"/v1/review/{second['id']}", json=named).status_code == 200
    events = {each["event"]: each for each in filled.get("/v1/events").json()["events"]}
    assert events["harbour-fire"]["messages"] == 2
    assert not events["harbour-fire"]["known"]
    assert filled.post("/v1/review/no-such", json={"action": "accept"}).status_code == 404
    assert filled.post(f"/v1/review/{first['id']}", json={"action": "new-event"}).status_code == 422


def test_events_count_every_message_once(filled):
    told = filled.get("/v1/events").json()
    shown = filled.get("/v1/messages", params={"limit": 100}).json()["messages"]
    assigned = [each["assigned"] for each in shown if each["assigned"]]
    for each in told["events"]:
        assert each["messages"] == assigned.count(each["event"])
        assert sum(each["volume"]) == each["messages"]
        assert len(each["examples"]) <= 3
    assert any(each["keywords"] for each in told["events"])
