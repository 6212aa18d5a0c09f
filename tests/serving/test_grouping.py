"""Candidates of the desk: found as messages come in, kept through restarts and among services."""

from concurrent.futures import ThreadPoolExecutor

import polars as pl
import pytest
from sqlalchemy import select

from desks import NEWS, Sceptic, opened
from eventide.model.discovery import perhaps_new, take_in
from eventide.novelty.candidates import Candidates
from eventide.serving.candidate_decisions import decide, listed_candidates
from eventide.serving.candidate_rows import version_now
from eventide.serving.grouping import OPINION, Grouping
from eventide.serving.incoming import CandidateDecision, NewMessage
from eventide.serving.ingest import Ingest
from eventide.serving.reviews import review_counts
from eventide.serving.store import CANDIDATE_MEMBERS, MESSAGES, Store
from eventide.serving.stored_messages import forget_user
from processes import until


def written(topic, first, count, user="someone"):
    return [
        NewMessage(
            id=f"{topic}-{at}",
            text=f"{NEWS[topic]} x{at}",
            created_at=f"2024-03-{1 + at // 24:02d}T{at % 24:02d}:00:00Z",
            user=user,
        )
        for at in range(first, first + count)
    ]


@pytest.fixture
def sceptic(shared_model):
    return Sceptic(shared_model)


@pytest.fixture
def desk(store, sceptic):
    """A way in, and the grouping, on either kind of store."""
    return Ingest(store, sceptic), Grouping(store, sceptic)


def names(store, state="open"):
    return {each["id"]: each["messages"] for each in listed_candidates(store, state)}


def members(store):
    columns = CANDIDATE_MEMBERS.c
    with store.reading() as connection:
        query = select(columns.message_id, columns.candidate)
        return {row[0]: row[1] for row in connection.execute(query)}


def test_candidates_are_those_of_discover(store, desk, sceptic, new_messages):
    ingest, grouping = desk
    usual = [NewMessage(**each) for each in new_messages[:30]]
    sent = usual + written("crane", 0, 6) + written("bees", 0, 5)
    ingest(sent)
    assert grouping.waiting() == len(sent)
    grouping.catch_up()
    assert grouping.waiting() == 0
    with store.reading() as connection:
        rows = [dict(row) for row in connection.execute(select(MESSAGES)).mappings()]
    found, loaded = Candidates.none(), sceptic.now
    opinions = pl.DataFrame({name: [row[name] for row in rows] for name in OPINION}, schema=OPINION)
    new = (opinions["verdict"] == "new").to_numpy()
    perhaps = perhaps_new(loaded.classifier, opinions)
    take_in(found, loaded.classifier, loaded.frame(rows), new, perhaps)
    shown = {each["id"]: each for each in listed_candidates(store)}
    assert len(shown) == 2
    for each in found.candidates:
        assert shown[each.id]["messages"] == each.volume
        assert shown[each.id]["name"] == each.name
        assert shown[each.id]["keywords"] == each.keywords
        assert shown[each.id]["purity"] == each.purity
        assert [example["text"] for example in shown[each.id]["examples"]] == each.examples


def test_candidates_keep_their_ids_and_grow_through_a_restart(store, desk, store_address, sceptic):
    ingest, grouping = desk
    ingest(written("crane", 0, 5) + written("bees", 0, 2))
    grouping.catch_up()
    assert list(names(store).values()) == [5]
    (first,) = names(store)
    store.close()
    again = Store(store_address)
    Ingest(again, sceptic)(written("crane", 5, 4) + written("bees", 2, 3))
    Grouping(again, sceptic).catch_up()
    assert names(again)[first] == 9
    assert sorted(names(again).values()) == [5, 9]  # those that were alone are found too
    again.close()


def test_two_services_group_each_message_once(store, desk, store_address, sceptic):
    """Both have candidates at hand; whoever is late drops what it made and begins again."""
    ingest, one = desk
    other_store = Store(store_address)
    two = Grouping(other_store, sceptic)
    ingest(written("crane", 0, 4))
    one.catch_up()
    two.catch_up()
    for start in (4, 8, 12):
        ingest(written("crane", start, 4) + written("bees", start, 4))
        with ThreadPoolExecutor(2) as pool:
            for done in [pool.submit(each.catch_up) for each in (one, two)]:
                done.result(60)
    assert sorted(names(store).values()) == [12, 16]
    assert names(store) == names(other_store)
    assert len(members(store)) == 28
    other_store.close()


def test_a_step_that_is_late_writes_nothing(store, desk, monkeypatch):
    ingest, grouping = desk
    ingest(written("crane", 0, 4))
    grouping.catch_up()
    (first,) = names(store)
    ingest(written("crane", 4, 3))
    from eventide.serving import grouping as module

    take = module._take
    decision = CandidateDecision(action="dismiss")

    def meanwhile(now, loaded, rows):
        monkeypatch.setattr(module, "_take", take)
        decide(store, first, decision, "ann", ())
        take(now, loaded, rows)

    monkeypatch.setattr(module, "_take", meanwhile)
    assert grouping.step()
    assert grouping.waiting() == 3
    assert names(store, "dismissed") == {first: 4}
    grouping.catch_up()
    assert names(store, "dismissed") == {first: 7}


def test_what_joins_a_decided_candidate_goes_its_way(store, desk):
    ingest, grouping = desk
    ingest(written("crane", 0, 4) + written("bees", 0, 4))
    grouping.catch_up()
    crane, bees = (members(store)[name] for name in ("crane-0", "bees-0"))
    accept = CandidateDecision(action="accept", event="crane-fall")
    assert decide(store, crane, accept, "ann", ())["reviewed"] == 4
    assert decide(store, bees, CandidateDecision(action="dismiss"), "ann", ())["reviewed"] == 4
    assert names(store) == {}
    ingest(written("crane", 4, 2) + written("bees", 4, 2))
    grouping.catch_up()
    assert names(store) == {}
    assert review_counts(store) == {"new-event": 6, "unknown": 6}
    with store.reading() as connection:
        said = dict(connection.execute(select(MESSAGES.c.id, MESSAGES.c.assigned)).all())
    assert {said[f"crane-{at}"] for at in range(6)} == {"crane-fall"}
    assert {said[f"bees-{at}"] for at in range(6)} == {None}
    undone = decide(store, bees, CandidateDecision(action="undo"), "ann", ())
    assert undone["reviewed"] == 6
    assert names(store) == {bees: 6}
    assert review_counts(store) == {"new-event": 6, "open": 6}


def test_a_forgotten_message_leaves_its_candidate(store, desk):
    ingest, grouping = desk
    ingest(written("crane", 0, 3, "ann") + written("crane", 3, 4, "bob"))
    ingest(written("bees", 0, 3, "ann"))
    grouping.catch_up()
    assert sorted(names(store).values()) == [3, 7]
    ingest(written("bees", 3, 1, "ann"))  # it waits to be grouped, and must be gone too
    assert forget_user(store, "ann") == 7
    (shown,) = listed_candidates(store)
    assert shown["keywords"] == [] == shown["examples"]  # nothing of ann's words is left
    grouping.catch_up()
    (shown,) = listed_candidates(store)
    assert shown["messages"] == 4
    assert "cranefall" in shown["keywords"]
    assert {name.split("-")[0] for name in members(store)} == {"crane"}
    assert grouping.waiting() == 0


def test_what_is_forgotten_while_it_is_grouped_is_not_written(store, desk, monkeypatch):
    ingest, grouping = desk
    ingest(written("crane", 0, 4, "ann"))
    from eventide.serving import grouping as module

    take = module._take

    def meanwhile(now, loaded, rows):
        take(now, loaded, rows)
        forget_user(store, "ann")

    monkeypatch.setattr(module, "_take", meanwhile)
    grouping.step()
    assert members(store) == {}
    assert names(store) == {}


def test_another_encoder_keeps_the_candidates(store, desk, small_sample, tmp_path):
    """A model that was trained again has other vectors: those of the messages are made anew."""
    from eventide.model import EventClassifier
    from eventide.serving.live_model import LiveModel

    ingest, grouping = desk
    ingest(written("crane", 0, 4))
    grouping.catch_up()
    (first,) = names(store)
    model = EventClassifier(encoder="tfidf-svd:5", training__epochs=1).fit(small_sample)
    model.save(tmp_path / "other")
    other = Sceptic(LiveModel(tmp_path / "other"))
    Ingest(store, other)(written("crane", 4, 3))
    grouping._live = other  # the service has read another model
    grouping.catch_up()
    assert names(store) == {first: 7}
    with store.reading() as connection:
        packed = connection.execute(select(CANDIDATE_MEMBERS.c.vector)).scalars().all()
    assert len(packed) == 7
    assert all(bytes(each).startswith(other.now.encoder_mark) for each in packed)


def test_a_model_that_knows_them_now_takes_messages_out(store, desk, shared_model):
    """Learning makes news known: what is scored again leaves the candidate, or looks for one."""
    from eventide.serving.rescoring import rescore

    ingest, grouping = desk
    ingest(written("crane", 0, 4) + written("bees", 0, 4))
    grouping.catch_up()

    class Learned:
        version = "learned"

        def opinions(self, rows):
            said = Sceptic(shared_model, "beeswarm").now.opinions(rows)
            return [opinion | {"model": self.version} for opinion in said]

    assert rescore(store, Learned()) == 8
    grouping.catch_up()
    assert list(names(store).values()) == [4]
    assert {name.split("-")[0] for name in members(store)} == {"bees"}


def test_the_service_groups_by_itself_and_tells(store, sceptic):
    desk, client = opened(store, sceptic)
    told = []
    desk.broadcast.tell = lambda kind, **facts: told.append(kind)
    with client:
        sent = [each.model_dump(mode="json", exclude_none=True) for each in written("crane", 0, 5)]
        client.post("/v1/messages", json=sent)

        def candidates():
            return client.get("/v1/candidates").json()["candidates"]

        until(candidates, "candidates", pause=0.2)
        until(lambda: "candidates" in told, "a word of them")
        found = client.get("/v1/candidates").json()
        (candidate,) = found["candidates"]
        assert candidate["messages"] == 5
        assert found["measured"]
        listed = client.get("/v1/messages", params={"candidate": candidate["id"]}).json()
        assert len(listed["messages"]) == 5


def test_nothing_is_written_where_nothing_changed(store, desk):
    ingest, grouping = desk
    ingest(written("crane", 0, 4))
    grouping.catch_up()

    def version():
        with store.reading() as connection:
            return version_now(connection)

    before = version()
    assert not grouping.step()
    assert not Grouping(store, grouping._live).step()  # another service reads, and is content
    assert version() == before


def failing(monkeypatch, *ids):
    """Make steps fail that take one of these messages; return how many messages each step took."""
    from eventide.serving import grouping as module

    take, sizes = module._take, []

    def step(now, loaded, rows):
        sizes.append(len(rows))
        if any(row["id"] in ids for row in rows):
            raise ZeroDivisionError
        take(now, loaded, rows)

    monkeypatch.setattr(module, "_take", step)
    return sizes


def test_one_bad_message_is_set_aside_and_the_others_are_grouped(store, desk, monkeypatch, caplog):
    ingest, grouping = desk
    ingest(written("crane", 0, 40) + written("bees", 0, 5))
    sizes = failing(monkeypatch, "crane-7")
    grouping.catch_up()
    assert sorted(names(store).values()) == [5, 39]
    assert grouping.waiting() == 1  # nothing is lost
    assert grouping.aside.reasons() == {"ZeroDivisionError": 1}
    assert len(sizes) < 20
    assert caplog.records[-1].facts["messages"] == 1
    assert caplog.records[-1].exc_info[0] is ZeroDivisionError
    taken = len(sizes)
    ingest(written("bees", 5, 3))
    grouping.catch_up()  # what is set aside holds up nobody, and is not tried with every step
    assert sizes[taken] == 3
    assert sorted(names(store).values()) == [8, 39]


def test_what_is_set_aside_is_tried_again(store, desk, sceptic, monkeypatch):
    from eventide.serving import set_aside

    ingest, grouping = desk
    ingest(written("crane", 0, 4))
    with monkeypatch.context() as patch:
        failing(patch, "crane-2", "crane-3")
        grouping.catch_up()
    assert grouping.aside.reasons() == {"ZeroDivisionError": 2}
    assert not grouping.step()
    assert grouping.waiting() == 2
    monkeypatch.setattr(set_aside, "RETRY_SECONDS", 0)
    grouping.catch_up()
    assert grouping.aside.reasons() == {}
    assert grouping.waiting() == 0
    assert list(names(store).values()) == [4]


def test_a_restart_tries_again_what_was_set_aside(store, desk, sceptic, monkeypatch):
    ingest, grouping = desk
    ingest(written("crane", 0, 4))
    with monkeypatch.context() as patch:
        failing(patch, "crane-2")
        grouping.catch_up()
    assert grouping.waiting() == 1
    Grouping(store, sceptic).catch_up()
    assert grouping.waiting() == 0
    assert list(names(store).values()) == [4]


def test_where_no_message_is_to_blame_all_wait_for_a_while(store, desk, monkeypatch):
    from eventide.serving import grouping as module

    ingest, grouping = desk
    ingest(written("crane", 0, 4))
    with monkeypatch.context() as patch:
        patch.setattr(module, "take_in", lambda *_: 1 / 0)
        grouping.catch_up()  # it ends
        assert not grouping.step()
    assert grouping.waiting() == 4
    assert grouping.aside.reasons() == {}
    monkeypatch.setattr(grouping.aside, "_paused_until", 0)
    grouping.catch_up()
    assert grouping.waiting() == 0
    assert list(names(store).values()) == [4]


def test_a_text_that_the_database_refuses_is_set_aside(store, desk, monkeypatch):
    """An error of the database about what is written is no reason to stop for good."""
    from sqlalchemy.exc import DataError

    from eventide.serving import grouping as module

    ingest, grouping = desk
    ingest(written("crane", 0, 4))
    write = module.write_grouped

    def refused(connection, now, rows, loaded):
        if any(row["id"] == "crane-1" for row in rows):
            raise DataError("INSERT", {}, ValueError("bad text"))
        write(connection, now, rows, loaded)

    monkeypatch.setattr(module, "write_grouped", refused)
    grouping.catch_up()
    assert grouping.waiting() == 1
    assert grouping.aside.reasons() == {"StoreUnavailable": 1}
    assert list(names(store).values()) == [3]


def test_what_is_set_aside_stands_in_the_metrics(file_store, sceptic, monkeypatch):
    desk, client = opened(file_store, sceptic)
    desk._ingest(written("crane", 0, 4))
    failing(monkeypatch, "crane-2")
    desk.grouping.catch_up()
    with client:
        page = client.get("/metrics").text
    assert 'eventide_set_aside_messages{error="ZeroDivisionError"} 1.0' in page
