"""Messages: sent once or twice, one or many, found again page by page, forgotten."""

import json

import pytest

from desks import opened


@pytest.fixture
def filled(client, new_messages):
    assert client.post("/v1/messages", json=new_messages[:40]).status_code == 201
    return client


def test_one_message_is_stored_and_gets_its_opinion(client, new_messages, shared_model):
    answer = client.post("/v1/messages", json=new_messages[0])
    assert answer.status_code == 201
    (message,) = answer.json()["messages"]
    assert message["status"] == "new"
    opinion = message["opinion"]
    said = shared_model.now.classifier.opinions(new_messages[:1]).row(0, named=True)
    assert opinion["event"] == said["event"]
    assert opinion["probability"] == pytest.approx(said["probability"])
    assert opinion["doubt"] == pytest.approx(1 - opinion["probability"])
    assert set(opinion["views"]) == {"hashtag", "entity", "user"}
    assert client.get(f"/v1/messages/{message['id']}").json()["text"] == new_messages[0]["text"]


def test_sending_again_is_safe_and_another_text_is_refused(client, new_messages):
    first = client.post("/v1/messages", json=new_messages[:3]).json()["messages"]
    again = client.post("/v1/messages", json=new_messages[:3])
    assert again.status_code == 200
    assert [each["status"] for each in again.json()["messages"]] == ["known"] * 3
    assert [each["received_at"] for each in again.json()["messages"]] == [
        each["received_at"] for each in first
    ]
    other = new_messages[0] | {"text": "something else"}
    assert client.post("/v1/messages", json=other).status_code == 409
    mixed = client.post("/v1/messages", json=[other, new_messages[3], new_messages[3]])
    assert mixed.status_code == 201
    assert [each["status"] for each in mixed.json()["messages"]] == ["new", "known"]
    assert [each["id"] for each in mixed.json()["rejected"]] == [other["id"]]
    assert len(client.get("/v1/messages").json()["messages"]) == 4


def test_null_is_nothing_given(client):
    sent = {"id": "n", "text": "x"} | dict.fromkeys(["user", "hashtags", "urls", "created_at"])
    assert client.post("/v1/messages", json=sent).status_code == 201
    assert client.post("/v1/review/n", json={"action": "accept", "event": None}).status_code == 200


def test_pages_hold_every_message_once(filled, new_messages):
    seen, cursor = [], None
    while True:
        query = {"limit": 7} | ({"cursor": cursor} if cursor else {})
        page = filled.get("/v1/messages", params=query).json()
        seen += [each["id"] for each in page["messages"]]
        cursor = page["next"]
        if cursor is None:
            break
    assert seen == [each["id"] for each in reversed(new_messages[:40])]


def test_filters(filled, new_messages):
    every = filled.get("/v1/messages", params={"limit": 100}).json()["messages"]

    def found(**query):
        return {
            each["id"]
            for each in filled.get("/v1/messages", params=query | {"limit": 100}).json()["messages"]
        }

    event = every[0]["assigned"]
    assert found(event=event) == {each["id"] for each in every if each["assigned"] == event}
    doubtful = {each["id"] for each in every if each["opinion"]["doubt"] >= 0.5}
    assert found(min_doubt=0.5) == doubtful
    assert found(max_doubt=0.4999999) == {each["id"] for each in every} - doubtful
    assert found(verdict="review") == {
        each["id"] for each in every if each["opinion"]["verdict"] == "review"
    }
    middle = sorted(each["created_at"] for each in every)[20]
    assert found(since=middle) == {each["id"] for each in every if each["created_at"] >= middle}
    assert found(until=middle) == {each["id"] for each in every if each["created_at"] < middle}
    word = new_messages[5]["text"].split()[0]
    assert new_messages[5]["id"] in found(q=word.upper())
    assert found(q="100%_no\\such") == set()
    assert found(reviewed="true") == set()


HOSTILE = [
    "a\x00b",
    "<script>alert(1)</script>",
    "\u202eevil\u2066",
    "x" * 20_000,
    "half \ud800 of one",
    "'; DROP TABLE messages; --",
]


def test_any_text_comes_back_as_it_was_but_for_what_no_database_holds(client):
    sent = [
        {"id": f"h/{at} ?#%\x00", "text": text, "user": text[:50]}
        for at, text in enumerate(HOSTILE)
    ]
    body = json.dumps([each | {"id": f"{each['id']}{at}"} for at, each in enumerate(sent)])
    answer = client.post("/v1/messages", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 201
    stored = [each["text"] for each in answer.json()["messages"]]
    clean = [text.replace("\x00", "\ufffd").replace("\ud800", "\ufffd") for text in HOSTILE]
    assert stored == clean
    listed = client.get("/v1/messages", params={"q": "\x00"})
    assert listed.status_code == 200


@pytest.mark.parametrize(
    "body",
    [
        {},
        [],
        {"id": "", "text": "x"},
        {"id": "1", "text": "   "},
        {"id": "1", "text": "x" * 20_001},
        {"id": "1", "text": "x", "created_at": "2400-01-01T00:00:00Z"},
        {"id": "1", "text": "x", "hashtags": ["a"] * 101},
        {"id": "1", "text": "x", "colour": "blue"},
        [{"id": str(at), "text": "x"} for at in range(1001)],
        {"id": ["1"], "text": "x"},
    ],
    ids=lambda body: str(body)[:40],
)
def test_what_cannot_be_used_is_refused_with_its_place(file_client, body):
    answer = file_client.post("/v1/messages", json=body)
    assert answer.status_code == 422
    assert ":" in answer.json()["error"]


def test_forgetting_a_user_in_store_and_model(store, own_model, small_sample, new_messages):
    user = small_sample["user"][0]
    desk, client = opened(store, own_model)
    with client:
        before = len(own_model.now.classifier.memory_)
        client.post(
            "/v1/messages",
            json=[new_messages[0] | {"user": user}, new_messages[1] | {"user": "somebody"}],
        )
        gone = client.delete(f"/v1/users/{user}").json()
        assert gone["messages"] == 1
        assert gone["remembered"] >= 1
        assert len(desk.live.now.classifier.memory_) == before - gone["remembered"]
        assert [each["user"] for each in client.get("/v1/messages").json()["messages"]] == [
            "somebody"
        ]
        assert client.delete("/v1/users/nobody-at-all").json() == {"messages": 0, "remembered": 0}


def test_messages_past_the_retention_period_go(store, shared_model, new_messages):
    desk, client = opened(store, shared_model, keep_days=1)
    with client:
        client.post("/v1/messages", json=new_messages[:2])
        assert desk.forget_old() == 0
        from sqlalchemy import update

        from eventide.serving.store import MESSAGES

        with store.writing() as connection:
            old = update(MESSAGES).where(MESSAGES.c.id == new_messages[0]["id"])
            connection.execute(old.values(received_at=1))
        assert desk.forget_old() == 1
        assert store.count() == 1


def test_explanation_and_export(filled, new_messages):
    told = filled.get(f"/v1/explanation/{new_messages[0]['id']}").json()
    assert {each["view"] for each in told["explanation"]["views"]} == {"hashtag", "entity", "user"}
    lines = filled.get("/v1/export").text.splitlines()
    assert len(lines) == 40
    assert filled.get("/v1/export", params={"what": "labels"}).text == ""
    filled.post(f"/v1/review/{new_messages[0]['id']}", json={"action": "accept"})
    (label,) = filled.get("/v1/export", params={"what": "labels"}).text.splitlines()
    assert json.loads(label)["event"] == told["message"]["opinion"]["event"]
