"""What the service does by itself goes on after an error that nobody foresaw."""

from desks import opened
from eventide.serving import application
from processes import until


def test_an_unforeseen_error_ends_neither_grouping_nor_the_service(
    file_store, shared_model, monkeypatch, caplog
):
    monkeypatch.setattr(application, "GROUPING_SECONDS", 0.01)
    desk, client = opened(file_store, shared_model)
    asked = []

    def group():
        asked.append(1)
        if len(asked) < 3:
            raise ZeroDivisionError
        return False

    desk.group = group
    with client:
        until(lambda: len(asked) > 3, "another step")
    assert [each.getMessage() for each in caplog.records].count("grouping failed") == 2
