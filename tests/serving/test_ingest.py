"""A message that the model fails on does not spoil its neighbours; another service's are known."""

from eventide.serving.incoming import NewMessage
from eventide.serving.ingest import Ingest
from eventide.serving.store import Store


class Picky:
    """A model that fails on some texts."""

    def __init__(self, live):
        self._loaded = live.now

    @property
    def now(self):
        return self

    def opinions(self, rows):
        if any("poison" in row["text"] for row in rows):
            raise ZeroDivisionError
        return self._loaded.opinions(rows)


def test_one_bad_message_fails_alone(file_store, shared_model):
    ingest = Ingest(file_store, Picky(shared_model))
    sent = [NewMessage(id=str(at), text=text) for at, text in enumerate(("fine", "poison", "good"))]
    assert [each.status for each in ingest(sent)] == ["new", "failed", "new"]
    assert file_store.count() == 2
    assert [each.status for each in ingest(sent)] == ["known", "failed", "known"]


def test_two_services_on_one_store_know_each_others_messages(store, store_address, shared_model):
    other = Store(store_address)
    one, two = Ingest(store, shared_model), Ingest(other, shared_model)
    message = NewMessage(id="1", text="a flood")
    assert one([message])[0].status == "new"
    assert two([message, NewMessage(id="2", text="a fire")])[0].status == "known"
    assert two([NewMessage(id="1", text="another text")])[0].status == "taken"
    assert store.count() == other.count() == 2
    other.close()
