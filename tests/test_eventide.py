"""Row 27: the public names, what importing costs, and logging under the name eventide."""

import logging
import subprocess
import sys

import pytest

import eventide
from eventide.errors import BadSetting
from eventide.model import EventClassifier
from processes import LONG

QUICK = {"encoder": "tfidf-svd:16", "training__epochs": 4, "method": "ce"}


def test_dir_shows_the_public_names():
    shown = [name for name in dir(eventide) if not name.startswith("__")]
    assert shown == [
        "EventClassifier", "EventideError", "EventideWarning", "errors", "load", "read", "sample",
    ]  # fmt: skip
    assert "__version__" in dir(eventide)
    assert set(eventide.__all__) <= set(dir(eventide))
    for name in eventide.__all__:
        assert getattr(eventide, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        eventide.nothing  # noqa: B018


def test_the_names_are_what_they_say():
    assert eventide.EventClassifier is EventClassifier
    assert eventide.read(eventide.sample().head(3)).rows_in == 3
    assert issubclass(eventide.EventideWarning, UserWarning)


def test_importing_eventide_imports_nothing_heavy():
    code = (
        "import sys, eventide; dir(eventide); "
        "print({'torch', 'polars', 'sklearn', 'pandas'} & set(sys.modules) or '')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=LONG
    )
    assert done.stdout.strip() == ""


def test_the_typed_marker_is_there():
    from importlib.resources import files

    assert (files("eventide") / "py.typed").is_file()


def test_evaluate_explain_and_forget_are_methods(small_sample):
    model = EventClassifier(**QUICK).fit(small_sample)
    wanted = small_sample["id"][5]
    assert model.explain(small_sample, wanted).id == wanted
    assert model.explain(small_sample.with_columns(id=pl_numbers(small_sample)), 5).id == "5"
    assert model.evaluate(small_sample).rows == "test"
    before = len(model.memory_)
    assert model.forget(ids=[wanted]) == 1
    assert len(model.memory_) == before - 1
    assert model.remembered_rows(model.intake(small_sample).messages)[5] == -1
    assert len(model.predict(small_sample)) == len(small_sample)


def pl_numbers(frame):
    import polars as pl

    return pl.Series(range(len(frame)))


def test_epochs_are_logged_when_asked_for(small_sample, caplog):
    """Row 22: verbose= gives a line per epoch, or every n-th, through logging."""
    with caplog.at_level(logging.INFO, logger="eventide"):
        EventClassifier(**QUICK).fit(small_sample)
        assert not caplog.records
        EventClassifier(**QUICK).fit(small_sample.drop("split"), verbose=True)
        lines = [record.getMessage() for record in caplog.records if record.name == "eventide"]
        assert "no split given" in lines[0]
        assert [line.partition(":")[0] for line in lines[1:]] == [
            f"epoch {epoch} of 4" for epoch in (1, 2, 3, 4)
        ]
        assert "validation accuracy" in lines[-1]
        caplog.clear()
        EventClassifier(**QUICK).fit(small_sample, verbose=3)
        assert [record.getMessage().split(":")[0] for record in caplog.records] == [
            "epoch 3 of 4", "epoch 4 of 4",
        ]  # fmt: skip
    with caplog.at_level(logging.DEBUG, logger="eventide"):
        caplog.clear()
        EventClassifier(**QUICK).fit(small_sample)
        assert len([each for each in caplog.records if "epoch" in each.getMessage()]) == 4
    for bad in (-1, "yes", None, 1.5):
        with pytest.raises(BadSetting, match="verbose"):
            EventClassifier(**QUICK).fit(small_sample, verbose=bad)


def test_verbose_is_seen_where_nobody_set_up_logging(small_sample, tmp_path):
    """Row 22: and without it nothing is written; the program's own logging is left as it was."""
    small_sample.write_parquet(tmp_path / "messages.parquet")
    code = f"""
import logging, eventide
model = eventide.EventClassifier(**{QUICK!r})
model.fit("messages.parquet")
model.fit("messages.parquet", verbose=2)
logger = logging.getLogger("eventide")
print([type(each).__name__ for each in logger.handlers], logger.level)
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
        timeout=LONG,
    )
    assert [line.partition(":")[0] for line in done.stderr.splitlines()] == [
        "epoch 2 of 4", "epoch 4 of 4",
    ]  # fmt: skip
    assert done.stdout.strip() == "['NullHandler'] 0"
