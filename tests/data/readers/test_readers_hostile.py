"""Hostile files: whatever the bytes, no traceback, no hang, no row lost without a word."""

from __future__ import annotations

import gzip
import io
import json
import tempfile
import time
from pathlib import Path

import polars as pl
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from eventide.data import Intake, read
from eventide.data.schema import SCHEMA
from eventide.errors import EventideError

NAMES = ("a.csv", "a.tsv", "a.jsonl", "a.json", "a.parquet", "a.csv.gz", "a.jsonl.gz", "nameless")
PLAIN = [
    {
        "id": str(n),
        "text": f"text, {n} “é”",
        "created_at": "2013-12-01T12:51:01Z",
        "hashtags": ["a", "b"],
    }
    for n in range(6)
]
LINES = "\n".join(json.dumps(record, ensure_ascii=False) for record in PLAIN).encode()
CSV = b"id,text,created_at\n" + b"".join(
    b'%d,"say ""hi"", %d",1385902261\n' % (n, n) for n in range(6)
)
quick = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
slower = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])

fragments = st.sampled_from(
    [b"\x00", b"\xff", b"\xed\xa0\x80", b"\r", b"\n", b"\r\n", b'"', b"'", b",", b"{", b"}", b"[", b"]", b":",
     b"\\ud800", b"\\u0000", b"\\", b"null", b"NaN", b"1e999", b"\xef\xbb\xbf", b"\xff\xfe", b"-", b"{}", b"\x1f\x8b",
     b"PAR1", b"<html>", b'"id"', b'"text"', b'"data":[{}]', b'"data":[{"id":1,"text":2}]', b"\x85", b"\x0b", b" "]
)  # fmt: skip
cuts = st.lists(
    st.tuples(st.floats(0, 1), st.integers(0, 12), st.one_of(fragments, st.binary(max_size=8))),
    min_size=1,
    max_size=5,
)


def mutated(content: bytes, changes: list[tuple[float, int, bytes]]) -> bytes:
    for where, length, new in changes:
        at = int(where * len(content))
        content = content[:at] + new + content[at + length :]
    return content


def survive(name: str, content: bytes) -> Intake | None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        try:
            intake = read(path)
        except EventideError:
            return None
    assert intake.rows_in == len(intake.messages) + len(intake.rejected)
    assert dict(intake.messages.schema) == SCHEMA
    assert intake.messages["id"].is_unique().all()
    assert intake.messages.select("id", "text").null_count().sum_horizontal().item() == 0
    assert intake.messages["created_at"].null_count() in (0, len(intake.messages))  # all or none
    assert intake.rejected.select("row", "reason").null_count().sum_horizontal().item() == 0
    intake.summary()
    return intake


@quick
@given(
    st.sampled_from(NAMES),
    st.one_of(st.binary(max_size=300), st.lists(fragments, max_size=30).map(b"".join)),
)
@example("a.jsonl", b'{"id":')
def test_random_bytes(name: str, content: bytes) -> None:
    survive(name, content)
    if name.endswith(".gz"):
        survive(name, gzip.compress(content))


@quick
@given(cuts)
def test_mutated_json_lines(changes: list[tuple[float, int, bytes]]) -> None:
    content = mutated(LINES, changes)
    intake = survive("a.jsonl", content)
    if intake is not None and not content.startswith((b"\xff\xfe", b"\xef\xbb\xbf", b"[")):
        assert intake.rows_in == sum(bool(line.strip()) for line in content.split(b"\n"))


@quick
@given(cuts)
def test_mutated_csv(changes: list[tuple[float, int, bytes]]) -> None:
    survive("a.csv", mutated(CSV, changes))


@slower
@given(cuts)
def test_mutated_json_array(changes: list[tuple[float, int, bytes]]) -> None:
    survive("a.json", mutated(json.dumps(PLAIN, indent=1).encode(), changes))


@slower
@given(cuts, st.booleans())
def test_mutated_gzip(changes: list[tuple[float, int, bytes]], lines: bool) -> None:
    name, content = ("a.jsonl.gz", LINES) if lines else ("a.csv.gz", CSV)
    survive(name, mutated(gzip.compress(content), changes))


@slower
@given(cuts)
def test_mutated_parquet(changes: list[tuple[float, int, bytes]]) -> None:
    whole = io.BytesIO()
    pl.DataFrame(PLAIN).write_parquet(whole)
    survive("a.parquet", mutated(whole.getvalue(), changes))


lines_of_json = st.dictionaries(
    st.sampled_from([*SCHEMA, "tweet_id", "label", "data", "other"]),
    st.recursive(
        st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8)),
        lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=2)),
        max_leaves=4,
    ),
    max_size=6,
)  # fmt: skip


@quick
@given(st.lists(lines_of_json, min_size=1, max_size=6), st.booleans())
def test_any_objects_are_read_alike_from_lines_and_from_memory(
    records: list[dict[str, object]], ascii_only: bool
) -> None:
    records = [PLAIN[0], *records]
    content = "\n".join(json.dumps(r, ensure_ascii=ascii_only) for r in records)
    intake = survive("a.jsonl", content.encode("utf-8", "surrogatepass"))
    try:
        direct = read(records)
    except EventideError:
        return
    if intake is not None:
        assert intake.messages["id"].to_list() == direct.messages["id"].to_list()


def test_hostile_files_are_refused_in_seconds() -> None:
    """A reader that goes back to the start of each open quote would take hours for the first."""
    for name, content in (
        ("a.csv", b"id,text,time\n" + b'1,"\n2,"x"y\n' * 20_000),
        ("a.csv", b"id,text,time\n" + b'"' * 400_001),
        ("a.jsonl", b"{" * 300_000),
    ):
        started = time.process_time()
        survive(name, content)
        assert time.process_time() - started < 5, content[:30]
