"""DataProfile about messages: each number against a case small enough to count by hand."""

import re
import time
from datetime import UTC, datetime
from hashlib import sha256
from io import StringIO

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from eventide.data import Intake, read
from eventide.data.sample import sample
from eventide.data.schema import REJECTED
from eventide.reports.profile import DataProfile, advice, data_profile
from eventide.reports.profile.advice import FEW
from eventide.reports.profile.languages import guess
from eventide.reports.profile.page import bar, next_lines, page, sparkline
from eventide.reports.profile.sections import MEASURED, estimate, times


def message(number: int, text: str, **more: object) -> dict[str, object]:
    return {
        "id": f"m{number}",
        "text": text,
        "created_at": f"2024-03-{number:02d}T12:00:00Z",
        **more,
    }


def of(*rows: dict[str, object]) -> DataProfile:
    return data_profile(read(list(rows)), source="file.csv")


def codes(found: DataProfile) -> set[str]:
    return {warned.code for warned in found.warnings}


def shown(found: DataProfile, width: int = 100, **options: bool) -> str:
    stream = StringIO()
    Console(file=stream, width=width, highlight=False).print(page(found, **options))
    return stream.getvalue()


@pytest.fixture(scope="module")
def of_sample() -> DataProfile:
    messages = sample()
    nothing = pl.DataFrame(schema=REJECTED)
    return data_profile(Intake(messages, nothing, messages.height), source="sample.parquet")


def test_rows_are_counted_with_their_reasons():
    found = of(
        message(1, "one"),
        message(1, "the same id"),
        message(2, ""),
        message(3, "  "),
        {"id": "m4", "text": "no time", "created_at": "yesterday"},
    )
    assert (found.rows.read, found.rows.kept, found.rows.quarantined) == (5, 1, 4)
    assert sum(cause.rows for cause in found.rows.reasons) == 4
    assert found.rows.reasons[0].column == "text"
    assert (found.rows.reasons[0].rows, found.rows.reasons[0].first_row) == (2, 3)
    assert next(c.example for c in found.rows.reasons if c.column == "created_at") == "yesterday"
    assert "quarantine" in codes(found)
    assert "--rejected" in shown(found)


def test_classes_splits_and_imbalance():
    rows = [message(day, f"a{day}", event="flood", split="train") for day in range(1, 7)]
    rows += [
        message(7, "b", event="fire", split="train"),
        message(8, "c", event="fire", split="test"),
    ]
    rows += [message(9, "d")]
    found = of(*rows)
    assert [(e.event, e.messages, e.train, e.val, e.test) for e in found.classes.events] == [
        ("flood", 6, 6, 0, 0),
        ("fire", 2, 1, 0, 1),
    ]
    assert (found.classes.labelled, found.classes.unlabelled) == (8, 1)
    assert found.classes.imbalance == 3
    assert found.classes.training_imbalance == 6
    assert found.splits.model_dump() == {"train": 7, "val": 0, "test": 1, "none": 1}
    assert {"few", "untested", "no-split"} <= codes(found)


def test_a_class_that_is_only_held_out_is_named():
    found = of(
        message(1, "a", event="flood", split="train"), message(2, "b", event="fire", split="test")
    )
    assert found.classes.training_imbalance is None
    assert "never trained on: fire" in next(w.text for w in found.warnings if w.code == "untrained")


def test_times_per_day():
    found = of(message(1, "a"), message(1, "b", id="x"), message(4, "c"))
    assert found.times.first == datetime(2024, 3, 1, 12, tzinfo=UTC)
    assert (found.times.days, found.times.per_day) == (4, (2, 0, 0, 1))


@given(st.lists(st.tuples(st.integers(0, 40), st.sampled_from("abc")), min_size=2, max_size=30))
def test_nearest_in_time_agrees_with_a_plain_loop(rows):
    rows = list(dict(rows).items())  # one message per moment: no ties at distance zero
    frame = pl.DataFrame(
        {
            "id": [str(n) for n in range(len(rows))],
            "created_at": pl.Series([moment for moment, _ in rows]).cast(pl.Datetime("ms", "UTC")),
            "event": [event for _, event in rows],
        }
    )
    found = times(frame).same_event_nearest
    if len(rows) < 2:
        assert found is None
        return
    same = 0
    for moment, event in rows:
        others = [(abs(m - moment), m, e) for m, e in rows if m != moment]
        same += min(others)[2] == event  # of two equally near, the earlier
    assert found == pytest.approx(same / len(rows))


def test_views_count_elements_and_cliques():
    found = of(
        message(1, "x", hashtags=["flood", "Flood"], mentions=["bbc"], urls=[], entities=[]),
        message(2, "y", hashtags=["flood", "fire"], mentions=[], urls=["a.org/1"], entities=[]),
        message(3, "z", hashtags=[], mentions=[], urls=[], entities=[]),
    )
    hashtag, entity, user = found.views
    assert (hashtag.name, hashtag.columns) == ("hashtag", ("hashtags", "urls"))
    assert (hashtag.elements, hashtag.without, hashtag.most) == (3, 1, 3)
    assert hashtag.mean == pytest.approx(4 / 3)
    assert [(c.column, c.element, c.messages) for c in hashtag.cliques] == [
        ("hashtags", "flood", 2)
    ]
    assert (entity.elements, entity.without, entity.mean) == (0, 3, 0)
    assert user.cliques == ()  # one message alone is no clique
    assert "hub" in codes(found)
    assert "isolated" in codes(found)


def test_copies_leaks_and_conflicting_labels():
    long = "the river is over its banks near the old mill and people are leaving now"
    found = of(
        message(1, long, event="flood", split="train"),
        message(2, f"RT @someone: {long}", event="flood", split="test"),
        message(3, long, event="fire", split="val"),
        message(4, "something else altogether", event="fire", split="train"),
    )
    exact, near = found.repeats.exact, found.repeats.near
    assert (exact.groups, exact.messages, exact.surplus, exact.largest) == (1, 2, 1, 2)
    assert (exact.leaked, exact.conflicting, exact.example) == (1, 1, long)
    assert (near.groups, near.messages, near.leaked) == (1, 3, 2)
    assert {"leaked", "conflicting-labels"} <= codes(found)


def test_languages_are_guessed_by_words_and_script():
    texts = [
        "the water is in the house",
        "el agua está en la casa de una amiga",
        "#flood",
        "вода тут",
    ]
    assert guess(pl.Series(texts)).to_list() == ["English", "Spanish", "unclear", "Cyrillic script"]


def test_a_large_set_is_told_how_to_train_in_time(monkeypatch):
    rows = [message(number, f"t{number}") for number in range(1, 7)]
    assert "large" not in codes(of(*rows))
    monkeypatch.setattr(advice, "LARGE", 6)
    assert "large" in codes(of(*rows))


@pytest.mark.parametrize(
    ("rows", "code"),
    [
        ([message(1, "a", event="Flood"), message(2, "b", event="flood ")], "alike"),
        ([message(1, "a", event="flood"), message(2, "b", event="flood")], "one-class"),
        ([message(1, "a"), message(1, "b", id="other")], "one-time"),
        ([message(1, "a", created_at="1970-01-20T00:00:00Z")], "early"),
        ([message(n, f"t{n}", event="ab"[n > 9]) for n in range(1, 20)], "clock"),
        ([message(n, f"t{n}", event="ab"[n > 18]) for n in range(1, 20)], "unequal"),
        ([message(1, "a", event="flood"), message(2, "b", event="fire")], "small"),
        ([message(1, "a", event="flood", split="test")], "no-train"),
    ],
)
def test_warnings_appear_for_their_cause(rows, code):
    assert code in codes(of(*rows))


def test_a_clean_file_gets_no_warning():
    rows = [
        message(
            1 + n % 27,
            sha256(bytes([n])).hexdigest(),
            id=str(n),
            event="ab"[n % 2],
            split=("train", "train", "val", "test")[n // 2 % 4],
            hashtags=[f"t{n % 20}"],
            mentions=[f"u{n % 20}"],
            entities=[f"e{n % 20}"],
        )
        for n in range(8 * FEW)
    ]
    found = of(*rows)
    assert codes(found) == set()
    assert found.next_step == "Train on it: eventide train file.csv --out model"


def test_nothing_usable_and_nothing_labelled_have_their_own_next_step():
    assert "--column text=NAME" in of(message(1, "")).next_step
    assert "--column event=" in of(message(1, "a")).next_step
    assert next_lines(of(message(1, ""))).startswith("Next  No message could be used: ")


def test_the_next_command_can_be_copied_as_it_is():
    rows = [message(1, "a", topic="flood"), message(2, "b", topic="fire")]
    columns = {"event": "topic"}
    found = data_profile(read(rows, columns=columns), source="my file.csv", columns=columns)
    command = "eventide train 'my file.csv' --out model --column event=topic"
    assert found.next_step.endswith(command)
    assert next_lines(found).splitlines() == ["Next  Train on it:", "", f"  {command}"]
    several = data_profile(
        read(rows, columns=columns),
        source=["a b.csv", "c.csv"],
        columns=columns,
        options=["--day-first"],
    )
    assert "train 'a b.csv' c.csv --out model --column event=topic --day-first" in several.next_step
    assert (
        "Save the messages to a file"
        in data_profile(read(rows, columns=columns), source="-").next_step
    )


def test_facts_survive_json(of_sample):
    assert DataProfile.model_validate_json(of_sample.model_dump_json()) == of_sample


def test_the_sample_is_described_as_it_was_made(of_sample):
    assert of_sample.rows.kept == 2476
    assert len(of_sample.classes.events) == 12
    assert 40 < of_sample.classes.imbalance < 50
    assert of_sample.repeats.near.surplus > 300
    for view in of_sample.views:
        assert 0 < view.without < 2476
    assert {"unequal"} <= codes(of_sample)
    named = [guessed.language for guessed in of_sample.languages.guesses]
    assert named[0] == "English"
    assert {"Spanish", "French", "German"} <= set(named)


@pytest.mark.parametrize("plain", [False, True])
def test_the_page_is_plain_text_that_fits(of_sample, plain):
    text = shown(of_sample, plain=plain)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", text)
    assert max(map(len, text.splitlines())) <= 100
    assert "halvmar-flood" in text
    assert "imbalance 41.7" in text
    assert ("█" in text) is not plain
    assert text.isascii() is plain


def test_view_quality_counts_edges_of_each_view_and_of_all(of_sample):
    text = shown(of_sample)
    assert [each.view for each in of_sample.quality] == ["hashtag", "entity", "user", "all"]
    assert f"{of_sample.quality[-1].edges:,}" in text
    assert "the paper's" not in text


def test_the_papers_shares_stand_beside_ours_on_its_data_sets():
    rows = [message(1, f"#flood {n}", id=str(n), event="a") for n in range(3)]
    measured = data_profile(read(rows), source="crisislex-t7")
    hashtag = measured.quality[0]
    assert (hashtag.edges, hashtag.purity, hashtag.paper) == (3, 1.0, 0.8778)
    assert "0.8778" in shown(measured)
    assert "so edges and shares differ" in " ".join(shown(measured).split())


def test_many_events_are_shortened_in_the_middle():
    rows = [message(1 + n % 28, f"t{n}", id=str(n), event=f"event-{n:03d}") for n in range(60)]
    text = shown(of(*rows))
    assert "... 32 more" in text
    assert "event-000" in text
    assert "event-059" in text


def test_hostile_names_cannot_steer_the_terminal_or_the_markup():
    text = shown(
        of(message(1, "a", event="\x1b[31mred[/bold]\n[b]"), message(2, "b", event="x" * 500))
    )
    assert "\x1b" not in text
    assert "[/bold]" in text
    assert max(map(len, text.splitlines())) <= 100


@given(st.lists(st.integers(0, 10**6), max_size=200), st.integers(1, 60))
def test_sparklines_fit_and_show_every_count(counts, width):
    line = sparkline(counts, width)
    assert len(line) <= width
    if len(counts) <= width:
        assert [sign == " " for sign in line] == [count == 0 for count in counts]


@given(st.floats(0, 1), st.integers(1, 50))
def test_bars_stay_within_their_width(share, width):
    assert len(bar(share, width)) <= width


BROKEN = {
    "long.csv": b"id,text,created_at\n1,a,2024-03-01\n2,b,2024-03-01,x\n",
    "short.csv": b"id,text,created_at\n1,a,2024-03-01\n2,b\n",
    "quote.csv": b'id,text,created_at\n1,a,2024-03-01\n2,"b,2024-03-01\n',
    "line.jsonl": b'{"id":1,"text":"a","created_at":"2024-03-01"}\n{"id":2,oops\n',
    "array.json": b'[{"id":1,"text":"a","created_at":"2024-03-01"},{"id":2,oops',
}


@pytest.mark.parametrize("name", BROKEN)
def test_rows_that_cannot_be_taken_apart_are_shown(tmp_path, name):
    """Row 3: too many or too few fields, an unclosed quote, a broken JSON line."""
    (tmp_path / name).write_bytes(BROKEN[name])
    found = data_profile(read(tmp_path / name))
    assert [(cause.column, cause.first_row) for cause in found.rows.reasons] == [(None, 2)]
    assert "1 x row: " in shown(found)
    assert DataProfile.model_validate_json(found.model_dump_json()) == found


def test_rows_of_several_files_name_their_file(tmp_path):
    """Row 24: the page says which file a cause was first met in."""
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_bytes(
            BROKEN["short.csv"].replace(b"1,a", name[:1].encode() + b",a")
        )
    found = data_profile(read([tmp_path / "a.csv", tmp_path / "b.csv"]))
    assert "(row 2 of " in " ".join(shown(found, width=300).split())
    assert found.source.startswith("2 files")


def test_labels_that_look_missing_or_misspelt_are_warned_of_once():
    """Row 4: with counts and advice, and not twice on one page."""
    rows = [
        message(n, f"t{n}", event=event)
        for n, event in enumerate(["NA", "N/A", "FIRE", "fire", "fire"], 1)
    ]
    found = of(*rows)
    assert {"missing-label", "alike"} <= codes(found)
    text = " ".join(shown(found).split())
    assert text.count("1 message have the event 'NA'") == 1
    assert text.count("'fire' (2), 'FIRE' (1) are kept apart") == 1


def test_what_was_guessed_is_on_the_page():
    """Rows 12, 20, 25: the notes of reading."""
    rows = [{"text": "a", "date": "13/06/2013"}, {"text": "b", "date": "03/04/2013"}]
    text = " ".join(shown(of(*rows)).split())
    assert "How it was read" in text
    assert "read day first: 13/06/2013 has no other reading" in text
    assert "no column of ids" in text


def test_messages_without_times():
    """Row 25: no times at all are a fact like others."""
    found = data_profile(read(["flood in town", "fire"]))
    assert found.times.missing == 2
    assert "no-time" in codes(found)
    assert "no message has a time" in shown(found)


def test_most_rows_bad_is_not_a_reason_to_train():
    """Row 2: the next step is to mend the cause."""
    rows = [
        message(1, "a", event="x"),
        message(2, "b", event="y"),
        *(message(n, "", event="x") for n in range(3, 9)),
    ]
    found = of(*rows)
    assert found.next_step.startswith(
        "More than half of the rows cannot be used: name the right column"
    )
    assert "--column text=NAME" in found.next_step


def test_training_is_estimated():
    """Row 22: time and memory, about; what was measured comes back as it was."""
    for messages, seconds in MEASURED:
        assert estimate(messages).seconds_per_epoch == pytest.approx(seconds, rel=0.05)
    sizes = [0, 1, 10, 500, 5_000, 50_000, 500_000, 5_000_000]
    found = [estimate(size) for size in sizes]
    assert [e.seconds_per_epoch for e in found] == sorted(e.seconds_per_epoch for e in found)
    assert found[0].memory < found[-1].memory
    text = " ".join(shown(of(message(1, "a"))).split())
    assert "Training about" in text
    assert "GB of memory" in text


def test_a_page_on_a_text_of_megabytes_takes_no_time():
    """Row 17: 12 MB in one message."""
    started = time.process_time()
    found = of(
        message(1, "flood in #Calgary @bbc " * 500_000, event="a"), message(2, "b", event="b")
    )
    assert time.process_time() - started < 2
    assert "first 10,000 characters" in " ".join(found.notes)
