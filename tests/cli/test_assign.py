"""``eventide assign``: what is shown, what is kept, where it is written, and what is refused."""

import json
import zipfile
from pathlib import Path

import polars as pl
import pytest

from eventide.errors import (
    BadSetting,
    CannotWrite,
    EventideError,
    MissingColumn,
    MissingDependency,
    OutputError,
    RejectedRows,
)

OWN = ["id", "event", "probability", "doubt", "verdict", "novelty", "reason", "belief"]


@pytest.fixture
def assign(invoke, trained):
    """Assign new messages; the test says what else is typed."""
    return lambda *words, **more: invoke(
        "assign", trained / "model", trained / "new.jsonl", *words, **more
    )


@pytest.mark.parametrize("width", [40, 80, 120, 200])
def test_the_table_shows_event_doubt_and_text_at_any_width(assign, width):
    """Row 18: event, doubt, text in that order; text gets what is left; the id only if wide."""
    lines = assign(width=width).output.splitlines()
    header, first = lines[1], lines[2]
    columns = header.split()
    assert columns[0] == "event"
    assert columns[1] == "doubt"
    assert columns[-1] == ("id" if width >= 110 else "text")
    assert ("vacuity" in columns, "conflict" in columns) == (width >= 110, width >= 140)
    assert max(map(len, lines[:22])) <= width
    event, doubt = first.split()[:2]
    assert len(event) >= 9
    assert 0 <= float(doubt) <= 1
    room = len(first) - first.index(doubt) - len(doubt)
    assert room >= width / 3


def test_a_wide_sign_does_not_move_the_table(invoke, trained, tmp_path):
    messages = (
        pl.read_ndjson(trained / "new.jsonl").head(3).with_columns(text=pl.lit("大火 🔥 " * 40))
    )
    messages.write_ndjson(tmp_path / "wide.jsonl")
    lines = invoke("assign", trained / "model", tmp_path / "wide.jsonl").output.splitlines()
    assert "大火" in lines[2]
    assert len(lines[2]) < 80


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet", ".xlsx"])
def test_opinions_are_written_in_every_format(assign, tmp_path, suffix):
    """Row 19: CSV, JSONL, Parquet and XLSX, rounded but for Parquet."""
    out = tmp_path / f"opinions{suffix}"
    done = assign("--out", out)
    assert done.exit_code == 0, done.output
    assert str(out) in done.output.replace("\n", "")
    if suffix == ".xlsx":
        assert zipfile.is_zipfile(out)
        return
    read = {".csv": pl.read_csv, ".jsonl": pl.read_ndjson, ".parquet": pl.read_parquet}[suffix]
    found = read(out)
    assert found.columns[: len(OWN)] == OWN
    beliefs = found["belief"].to_list()
    exact = [float(f"{belief:.4g}") for belief in beliefs]
    assert (beliefs == exact) == (suffix != ".parquet")


def test_text_and_time_come_along_when_asked(assign, tmp_path, trained):
    """Row 19: --with-text puts each message's time and text beside its opinion."""
    out = tmp_path / "opinions.csv"
    assign("--out", out, "--with-text")
    found = pl.read_csv(out)
    assert found.columns[:4] == ["id", "created_at", "text", "event"]
    given = pl.read_ndjson(trained / "new.jsonl")
    assert found["text"].to_list() == given["text"].to_list()
    assert found["created_at"][0].endswith("Z")
    line = json.loads(assign("--with-text", "--json").output.splitlines()[0])
    assert line["text"] == given["text"][0]


def test_the_most_uncertain_come_first_and_others_are_left_out(assign, tmp_path):
    """Row 19: --most-uncertain sorts and cuts, in files and in JSON."""
    everything = [json.loads(line) for line in assign("--json").output.splitlines()]
    out = tmp_path / "worst.parquet"
    assign("--out", out, "--most-uncertain", 5)
    worst = pl.read_parquet(out)["doubt"].to_list()
    assert len(worst) == 5
    assert worst == sorted(worst, reverse=True)
    assert min(worst) >= sorted((each["doubt"] for each in everything), reverse=True)[5] - 1e-4
    shown = [
        json.loads(line) for line in assign("--json", "--most-uncertain", 5).output.splitlines()
    ]
    assert [each["id"] for each in shown] == pl.read_parquet(out)["id"].to_list()


def test_a_threshold_keeps_messages_to_review_in_their_order(assign):
    """Row 19: --threshold keeps those whose doubt is at least that."""
    everything = [json.loads(line) for line in assign("--json").output.splitlines()]
    middle = sorted(each["doubt"] for each in everything)[len(everything) // 2]
    kept = [
        json.loads(line)["id"]
        for line in assign("--json", "--threshold", middle).output.splitlines()
    ]
    assert 0 < len(kept) < len(everything)
    assert kept == [each["id"] for each in everything if each["id"] in set(kept)]
    shown = assign("--threshold", 1.0).output
    assert "to review: 0 of" in shown
    assert assign("--threshold", 1.5).exit_code == 2


def test_an_excel_file_holds_no_formula(invoke, trained, tmp_path):
    """Row 19: a text that begins with = is text, not a formula that a spreadsheet obeys."""
    messages = pl.read_ndjson(trained / "new.jsonl").head(4)
    texts = ['=HYPERLINK("http://x.y")', "+1", "-2+3", "@SUM(1)"]
    messages.with_columns(text=pl.Series(texts)).write_ndjson(tmp_path / "formulas.jsonl")
    out = tmp_path / "opinions.xlsx"
    invoke("assign", trained / "model", tmp_path / "formulas.jsonl", "--out", out, "--with-text")
    book = zipfile.ZipFile(out)
    assert b"<f>" not in book.read("xl/worksheets/sheet1.xml")
    assert b"HYPERLINK" in book.read("xl/sharedStrings.xml")


def test_without_the_package_an_excel_file_is_a_typed_error(assign, tmp_path, monkeypatch):
    """Row 19: xlsxwriter is an extra."""
    monkeypatch.setattr("eventide.reports.opinion_files.find_spec", lambda name: None)
    error = assign("--out", tmp_path / "x.xlsx").exception
    assert isinstance(error, MissingDependency)
    assert "eventide[excel]" in str(error)


def test_an_output_never_replaces_its_input(invoke, trained, tmp_path):
    """Row 5, failure 45: assign X --out X replaced the user's messages by opinions."""
    source = tmp_path / "messages.csv"
    pl.read_ndjson(trained / "new.jsonl").write_csv(source)
    before = source.read_bytes()
    (tmp_path / "link.csv").symlink_to(source)
    for written in (source, tmp_path / "link.csv", tmp_path / "." / "messages.csv"):
        for given in (source, f"{tmp_path}/*.csv"):
            done = invoke("assign", trained / "model", given, "--out", written, "--overwrite")
            assert isinstance(done.exception, OutputError)
            done = invoke("assign", trained / "model", given, "--rejected", written)
            assert isinstance(done.exception, OutputError)
    assert source.read_bytes() == before


def test_nothing_is_replaced_without_a_word(assign, tmp_path):
    """Row 5: --overwrite where something is; the file stays as it was otherwise."""
    out = tmp_path / "opinions.csv"
    out.write_text("mine")
    error = assign("--out", out).exception
    assert isinstance(error, OutputError)
    assert "--overwrite" in str(error)
    assert out.read_text() == "mine"
    assert assign("--out", out, "--overwrite").exit_code == 0
    assert out.read_text().startswith("id,event")


def test_a_quarantine_file_of_ours_may_be_replaced_and_no_other(assign, tmp_path):
    """Row 5: --rejected is no way to lose a file either."""
    mine = tmp_path / "mine.csv"
    mine.write_text("id,text\n1,precious\n")
    assert isinstance(assign("--rejected", mine).exception, OutputError)
    assert "precious" in mine.read_text()
    ours = tmp_path / "rejected.csv"
    assert assign("--rejected", ours).exit_code == 0
    assert assign("--rejected", ours).exit_code == 0
    same = assign("--rejected", ours, "--out", ours, "--overwrite").exception
    assert isinstance(same, OutputError)


@pytest.mark.parametrize("name", ["opinions.txt", "file/opinions.csv"])
def test_an_output_is_checked_before_anything_is_read(invoke, tmp_path, name):
    """Row 5, failures 15 and 16: a model or file that is not there would be a later error."""
    (tmp_path / "file").write_text("")
    done = invoke("assign", tmp_path / "no-model", "no-file", "--out", tmp_path / name)
    assert isinstance(done.exception, OutputError)
    assert done.exception.next_step


def test_a_failure_to_write_is_a_typed_error_and_leaves_nothing(assign, tmp_path, monkeypatch):
    """Row 5, failure 15: a full disk on the way."""

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pl.DataFrame, "write_csv", full)
    done = assign("--out", tmp_path / "opinions.csv")
    assert isinstance(done.exception, CannotWrite)
    assert "No space left" in str(done.exception)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("verb", ["assign", "evaluate", "explain"])
def test_every_verb_counts_and_names_what_was_quarantined(invoke, trained, tmp_path, verb):
    """Row 2: the same manners everywhere, with the same options."""
    good = (trained / "new.jsonl").read_text()
    source = tmp_path / "some.jsonl"
    source.write_text(
        good + '{"id": "x"\n' + '{"id": "y", "text": " ", "created_at": "2024-03-01"}\n'
    )
    out = tmp_path / "rejected.csv"
    done = invoke(verb, trained / "model", source, "--rejected", out, "--json")
    assert done.exit_code == 0, done.output
    assert "2 rejected" in done.stderr or done.stderr.count("1 rejected") == 2
    assert "the text is empty" in done.stderr
    assert len(pl.read_csv(out)) == 2
    assert isinstance(invoke(verb, trained / "model", source, "--strict").exception, RejectedRows)
    mostly = tmp_path / "mostly.jsonl"
    mostly.write_text("".join(good.splitlines(keepends=True)[:3]) + '{"id": "x"}\n' * 9)
    assert isinstance(invoke(verb, trained / "model", mostly).exception, RejectedRows)
    assert invoke(verb, trained / "model", mostly, "--allow-rejected").exit_code == 0


@pytest.mark.parametrize("verb", ["assign", "evaluate", "explain"])
def test_columns_can_be_mapped_for_every_verb(invoke, trained, tmp_path, verb):
    """Row 2: --column."""
    theirs = pl.read_ndjson(trained / "new.jsonl").rename({"text": "words", "id": "key"})
    theirs.write_ndjson(tmp_path / "theirs.jsonl")
    words = (verb, trained / "model", tmp_path / "theirs.jsonl")
    assert isinstance(invoke(*words).exception, MissingColumn)
    assert invoke(*words, "--column", "text=words", "--column", "id=key").exit_code == 0
    assert isinstance(invoke(*words, "--column", "text").exception, BadSetting)


def test_a_mapping_that_a_model_remembers_is_no_demand_on_new_files(invoke, small_sample, tmp_path):
    """Row 2: the model's own mapping helps where it fits, and is no error where it does not."""
    from eventide.model import EventClassifier

    theirs = small_sample.rename({"text": "words", "created_at": "time"})
    model = EventClassifier(
        columns={"text": "words", "created_at": "time"}, encoder="tfidf-svd:16", training__epochs=1
    )
    model.fit(theirs).save(tmp_path / "model")
    new = small_sample.head(20).with_columns(id=pl.col("id") + "-new")
    both = new.with_columns(words="text", time="created_at")
    for name, frame in {
        "ours": new,
        "theirs": new.rename({"text": "words", "created_at": "time"}),
        "half": new.rename({"text": "words"}),
        "both": both.with_columns(text=pl.lit("another column"), created_at=pl.lit(None)),
    }.items():
        frame.write_parquet(tmp_path / f"{name}.parquet")
    said = [
        invoke("assign", tmp_path / "model", tmp_path / f"{name}.parquet", "--json").output
        for name in ("ours", "theirs", "half", "both")
    ]
    assert len(said[0].splitlines()) == 20
    assert said == [said[0]] * 4


def test_nothing_is_read_or_checked_twice(invoke, trained, monkeypatch):
    """Row 2: the intake itself goes to the model."""
    from eventide.data import intake

    seen, batches_of = [], intake.batches_of

    def counted(source, *more, **options):
        seen.append(source)
        return batches_of(source, *more, **options)

    monkeypatch.setattr(intake, "batches_of", counted)
    for verb in ("assign", "explain"):
        seen.clear()
        assert invoke(verb, trained / "model", trained / "new.jsonl").exit_code == 0
        assert len(seen) == 1, verb


def test_several_sources_are_one_list_of_paths(monkeypatch, invoke, trained):
    """Row 24: one source is handed on as it is, several as paths."""
    asked = []

    def read(source, **_):
        asked.append(source)
        raise EventideError("enough")

    monkeypatch.setattr("eventide.data.read", read)
    for sources in (["-"], ["days/*.csv"], ["a.csv", "b.csv"]):
        invoke("assign", trained / "model", *sources)
        invoke("evaluate", trained / "model", *sources)
        invoke("explain", trained / "model", *sources)
    assert asked == ["-"] * 3 + ["days/*.csv"] * 3 + [[Path("a.csv"), Path("b.csv")]] * 3
