"""Reviews and accepted candidates become a model, by the button and the command, and it is undone."""

import json

import pytest
from typer.testing import CliRunner

from desks import NEWS, Sceptic, opened
from eventide.cli.main import app
from eventide.serving.stored_messages import every_message
from processes import LONG, until


def finished(client):
    """Wait until learning has ended; the service goes on answering meanwhile."""

    def job():
        assert client.get("/healthz").status_code == 200
        return client.get("/v1/model").json()["job"]

    until(lambda: job()["state"] != "running", "the end of learning", LONG, pause=0.2)
    return job()


def reviewed(desk, client, new_messages):
    """Accept a candidate, relabel one message, accept another; return the event of the second."""
    news = [
        {"id": f"{topic}-{at}", "text": f"{text} x{at}"}
        for topic, text in NEWS.items()
        for at in range(6)
    ]
    client.post("/v1/messages", json=[*new_messages[:20], *news])
    desk.grouping.catch_up()
    desk.changed("candidates")
    found = client.get("/v1/candidates").json()["candidates"]
    candidate, off_topic = sorted(found, key=lambda each: "crane" not in each["keywords"])
    client.post(f"/v1/candidates/{off_topic['id']}", json={"action": "dismiss"})
    accept = {"action": "accept", "event": "crane-fall"}
    assert client.post(f"/v1/candidates/{candidate['id']}", json=accept).json()["reviewed"] == 6
    first, second = client.get("/v1/review", params={"limit": 2}).json()["messages"]
    events = client.get("/v1/model").json()["events"]
    other = next(event for event in events if event != first["opinion"]["event"])
    for message, said in (
        (first, {"action": "relabel", "event": other}),
        (second, {"action": "accept"}),
    ):
        assert client.post(f"/v1/review/{message['id']}", json=said).status_code == 200
    return first["id"], other


@pytest.mark.slow
def test_the_button_learns_accepted_candidates_and_relabelled_messages(
    store, own_model, new_messages
):
    desk, client = opened(store, Sceptic(own_model))
    with client:
        before = client.get("/v1/model").json()
        assert client.post("/v1/model/restore").status_code == 422
        relabelled, event = reviewed(desk, client, new_messages)
        assert client.post("/v1/model/learn").status_code == 202
        job = finished(client)
        assert job["state"] == "done", job
        after = client.get("/v1/model").json()
        assert set(after["events"]) == {*before["events"], "crane-fall"}
        report = after["learnings"][0]["report"]
        assert report["new_events"] == ["crane-fall"]
        assert report["labels"] == report["reviewed"] == 8
        assert report["right_after"] >= report["right_before"]
        text = {"id": "later", "text": f"{NEWS['crane']} again"}
        said = own_model.now.classifier.opinions([text]).row(0, named=True)
        assert said["event"] == "crane-fall"
        assert len(own_model.now.classifier.novelty_.off_topic.vectors) == 6
        labels = own_model.now.classifier
        keys = labels.featuriser_.hashed("id", [relabelled])
        row = labels.memory_.ids.tolist().index(keys.tolist()[0])
        assert labels.class_names[labels.labels_[row]] == event
        left = client.get("/v1/messages", params={"reviewed": False}).json()["messages"]
        assert {each["opinion"]["model"] for each in left} == {after["version"]}
        assert client.post("/v1/model/learn").status_code == 202
        assert "nobody has given a label" in finished(client)["error"]  # nothing is learned twice
        other = next(each for each in after["events"] if each != event)
        client.post(f"/v1/review/{relabelled}", json={"action": "relabel", "event": other})
        pending = [
            row["id"] for row in every_message(store, reviewed=True) if not row["learned_by"]
        ]
        assert pending == [relabelled]  # what was said anew can be learned anew
        assert client.post("/v1/model/restore").status_code == 200
        back = client.get("/v1/model").json()
        assert back["events"] == before["events"]
        assert back["reviews"] == after["reviews"]  # what people said stays


@pytest.mark.slow
def test_the_command_trains_again_and_undoes_it(store, store_address, own_model, new_messages):
    desk, client = opened(store, Sceptic(own_model))
    with client:
        reviewed(desk, client, new_messages)
    before = own_model.now.version
    words = [str(own_model.path), "--store", store_address]
    done = CliRunner().invoke(app, ["learn", *words, "--epochs", "3", "--json"])
    assert done.exit_code == 0, done.output
    report = json.loads(done.stdout)
    assert report["new_events"] == ["crane-fall"]
    assert report["before"] == before
    assert own_model.reload().version == report["model"]
    assert "crane-fall" in own_model.now.class_counts
    with opened(store, own_model)[1] as client:  # the kept model must forget too, and be found
        user = new_messages[0]["user"]
        assert client.delete(f"/v1/users/{user}").json()["messages"] >= 1
    assert own_model.reload().version != report["model"]
    undone = CliRunner().invoke(app, ["learn", *words, "--undo"])
    assert undone.exit_code == 0, undone.output
    assert "crane-fall" not in own_model.reload().class_counts
    remembered = own_model.now.classifier.memory_.users
    keys = own_model.now.classifier.featuriser_.hashed("user", [user])
    assert not set(keys.tolist()) & set(remembered.tolist())


def test_nothing_to_learn_says_so(file_client):
    file_client.post("/v1/model/learn")
    job = finished(file_client)
    assert job["state"] == "failed"
    assert "nobody has given a label" in job["error"]
