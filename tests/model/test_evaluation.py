"""Row 10: an evaluation says what the model knew of the messages before."""

import polars as pl
import pytest
from typer.testing import CliRunner

import eventide
from eventide.cli.main import app
from eventide.errors import BadSetting, EventideWarning, InputError
from eventide.model import EventClassifier

QUICK = {"method": "lr-encoder", "encoder": "tfidf-svd:16"}


@pytest.fixture(scope="module")
def frame(small_sample):
    return small_sample.drop("split")


@pytest.fixture(scope="module", params=["transductive", "inductive"])
def model(request, frame):
    """A model whose validation rows were chosen by fit: the file has no split."""
    return EventClassifier(protocol=request.param, **QUICK).fit(frame)


@pytest.fixture(scope="module")
def new(frame):
    return frame.with_columns(id=pl.col("id") + "-new")


def told(report):
    return "\n".join(report.notes)


def test_without_other_rows_those_that_chose_the_epoch_are_evaluated_and_named(model, frame):
    """The README's sequence, train FILE and evaluate MODEL FILE, is no evaluation of training."""
    report = model.evaluate(frame)
    assert report.rows == "val"
    assert 0 < report.messages == report.validated_on < len(frame) / 5
    assert report.trained_on == 0
    assert "are validation messages: they chose the epoch" in told(report)
    assert f"left out: {len(frame) - report.messages:,} messages that were trained on" in told(
        report
    )
    assert "new to the model" not in report.protocol


def test_other_rows_come_first_and_known_ones_are_left_out(model, frame, new):
    report = model.evaluate(pl.concat([frame, new.head(40)]))
    assert (report.rows, report.messages) == ("unseen", 40)
    assert report.trained_on == report.validated_on == 0
    assert "every message is new to the model" in report.protocol
    assert "left out" in told(report)
    assert model.evaluate(new).notes == []


def test_trained_on_rows_are_labelled_as_that(model, frame, new):
    every = model.evaluate(frame, rows="all")
    assert every.messages == len(frame) == every.trained_on + every.validated_on
    assert f"{every.trained_on:,} of {len(frame):,} messages were trained on" in told(every)
    train = model.evaluate(pl.concat([frame, new]), rows="train")
    assert train.messages == train.trained_on == every.trained_on
    assert "no estimate for new messages" in told(train)


def test_as_new_does_not_make_messages_new(model, frame):
    report = model.evaluate(frame, rows="all", as_new=True)
    trained = report.trained_on
    assert report.protocol == (
        f"inductive (looked up as if new; {trained} of {len(frame)} were trained on)"
    )
    assert "no estimate for new messages" in told(report)


def test_nothing_left_to_evaluate_is_an_error(model, frame):
    rows = model.remembered_rows(frame)
    labels = model.labels_[rows]
    trained = frame.filter(pl.Series((rows >= 0) & (labels >= 0)))
    with pytest.raises(InputError, match=rf"all {len(trained):,} labelled messages were trained"):
        model.evaluate(trained)
    assert model.evaluate(trained, rows="train").messages == len(trained)


def test_test_rows_are_taken_where_there_are_any(small_sample):
    model = EventClassifier(**QUICK).fit(small_sample)
    report = model.evaluate(small_sample)
    assert report.rows == "test"
    assert report.messages == (small_sample["split"] == "test").sum()
    assert report.protocol.startswith("transductive")
    assert report.notes == []
    for rows in ("train", "val", "test"):
        found = model.evaluate(small_sample, rows=rows)
        assert found.messages == (small_sample["split"] == rows).sum()
    assert model.evaluate(small_sample, rows="unseen").messages == report.messages
    # another split at evaluation than at training: what the model knows is what counts
    turned = small_sample.with_columns(split=pl.col("split").replace({"train": "test"}))
    assert model.evaluate(turned).trained_on == (small_sample["split"] == "train").sum()


def test_rows_that_there_are_not(model, frame):
    """Row 16: a typo in rows is an error with a suggestion, before anything is read."""
    with pytest.raises(BadSetting, match="did you mean 'test'"):
        model.evaluate("no such file", rows="tset")
    with pytest.raises(BadSetting, match="Known"):
        model.evaluate("no such file", rows=None)
    with pytest.raises(InputError, match="there are: test 0, val"):
        model.evaluate(frame, rows="test")


def test_no_labels_is_an_error(model, frame):
    with pytest.raises(InputError, match="no labelled message"):
        model.evaluate(frame.drop("event"))
    assert model.evaluate(frame.drop("event"), frame["event"]).rows == "val"


def test_a_saved_model_knows_who_chose_its_epoch(model, frame, tmp_path):
    path = model.save(tmp_path / "model")
    assert eventide.load(path).evaluate(frame) == model.evaluate(frame)
    content = b"".join(file.read_bytes() for file in path.iterdir())
    assert not any(name.encode() in content for name in frame["id"])


def test_an_older_model_does_not_know_and_says_so(model, frame, tmp_path):
    older = eventide.load(model.save(tmp_path / "model"))
    older.validated_ = None
    report = older.evaluate(frame)
    assert report.rows == "unseen"
    assert report.validated_on is None
    assert "does not say which messages chose its epoch" in told(report)
    assert "new to the model" not in report.protocol
    again = eventide.load(older.save(tmp_path / "again"))
    assert again.validated_ is None


def test_who_is_forgotten_is_forgotten_here_too(model, frame, tmp_path):
    copy = eventide.load(model.save(tmp_path / "model"))
    chose = copy.evaluate(frame).messages
    hashed = copy.featuriser_.hashed("id", frame["id"])
    (known,) = copy.validated_.has(hashed).nonzero()
    gone = frame["id"][int(known[0])]
    trained = frame["id"][int((~copy.validated_.has(hashed)).argmax())]
    assert copy.forget(ids=[gone, trained]) >= 1
    assert len(copy.validated_) == chose - 1
    assert copy.evaluate(frame.filter(pl.col("id") == trained)).rows == "unseen"


def test_an_edited_message_counts_as_new(model, frame):
    """Row 24: also in an evaluation."""
    edited = frame.head(30).with_columns(text=pl.col("text") + " (edited)")
    report = model.evaluate(edited)
    assert report.rows == "unseen"
    assert report.trained_on == 0


def test_rejected_rows_are_told_and_counted(model, new):
    """Row 2: evaluate says what it could not use."""
    bad = new.with_columns(text=pl.when(pl.int_range(pl.len()) % 4 > 0).then("text"))
    with pytest.warns(EventideWarning, match="the text is empty"):
        report = model.evaluate(bad)
    assert report.rejected == len(model.rejected_) == -(-len(new) // 4)
    assert f"{report.rejected:,} of {len(new):,} rows could not be used" in told(report)


def test_numbers_as_labels_are_compared_as_such(frame, new):
    y = frame["event"].rank("dense").cast(pl.Int64)
    model = EventClassifier(**QUICK).fit(frame, y)
    assert model.evaluate(new, y).accuracy == model.score(new, y)
    assert model.evaluate(new.with_columns(event=y)).accuracy == model.score(new, y)


def test_the_two_commands_of_the_readme_evaluate_no_training_row(frame, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame.select("id", "text", "created_at", "event").write_ndjson("messages.jsonl")
    run = CliRunner()
    train = ["train", "messages.jsonl", "--out", "model", "--method", "lr-encoder"]
    assert run.invoke(app, train, catch_exceptions=False).exit_code == 0
    done = run.invoke(app, ["evaluate", "model", "messages.jsonl"], catch_exceptions=False)
    assert done.exit_code == 0
    said = " ".join(done.output.split())
    assert "are validation messages: they chose the epoch" in said
    assert "left out" in said
