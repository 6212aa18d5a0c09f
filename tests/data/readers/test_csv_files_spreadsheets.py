"""CSV as spreadsheets write it: each dialect is read right or refused in words."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from eventide.data import read
from eventide.errors import InputError, UnreadableSource

ROWS = [
    ("1", "river, rising", "2013-06-13", "flood"),
    ("2", 'he said "go"\nnow', "2013-06-14", "fire"),
]


def table(separator: str = ",", end: str = "\n", extra: str = "") -> str:
    def quoted(cell: str) -> str:
        doubled = cell.replace('"', '""')
        return f'"{doubled}"' if any(sign in cell for sign in '",;\n\t|') else cell

    lines = [("id", "text", "date", "event"), *ROWS]
    return "".join(separator.join(map(quoted, line)) + extra + end for line in lines)


@pytest.mark.parametrize(
    "content",
    [
        table().encode("utf-8-sig"),
        table(";").encode("utf-8-sig"),
        table("\t").encode("utf-16"),
        table("\t", "\r\n").encode("utf-16-le").join([b"\xff\xfe", b""]),
        table("|").encode(),
        table(";", "\r\n").encode(),
        table(",", "\r").encode(),
        b"sep=;\r\n" + table(";", "\r\n").encode(),
        b"SEP=;\n" + table(";").encode(),
        b'"sep=,"\n' + table().encode(),
        b"sep=\t\n" + table("\t").encode(),
        ("sep=;\n" + table(";")).encode("utf-16"),
        table(extra=",,").encode(),
        table(";", "\r\n", ";;;").encode(),
        (table() + ",,,\n,,,\n").encode(),
        (table(";", "\r\n") + ";;;\r\n\r\n").encode(),
        ("\n\n" + table()).encode(),
        table().replace("2013-06-13\n", "2013-06-13,,,\n", 1).encode(),
        table().replace("id,text", '"id","text"').encode(),
        table().replace("id,text,date", ' ID , Text ,"Date"').encode(),
        table(";").replace("2013-06-13", "13.06.2013").replace("2013-06-14", "14.06.2013").encode("cp1252"),
        table(";").replace("2013-06-13", "1371081600,0").replace("2013-06-14", "1371168000,5").encode(),
    ],
)  # fmt: skip
def test_every_dialect_gives_the_same_messages(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(content)
    intake = read(path)
    assert intake.rejected.is_empty(), intake.summary()
    found = intake.messages.select("id", "text", "event").rows()
    assert [(i, t.replace("\r", "\n"), e) for i, t, e in found] == [
        (r[0], r[1], r[3]) for r in ROWS
    ]
    assert intake.messages["created_at"].dt.day().to_list() == [13, 14]


def test_a_header_may_span_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('id,"text",date,"the\nevent"\n1,a,2013-01-01,fire\n')
    assert read(path, columns={"event": "the\nevent"}).messages["event"].to_list() == ["fire"]


def test_decimal_commas_in_vectors(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('id;text;date;vector\n1;a;2013-01-01;"0,5;1,25"\n2;b;2013-01-01;"[1,0; 2,5]"\n')
    assert read(path).messages["vector"].to_list() == [[0.5, 1.25], [1.0, 2.5]]


@pytest.mark.parametrize("name", ["a.xlsx", "a.csv", "a", "a.ods"])
def test_a_workbook_is_refused_with_the_way_to_export_it(tmp_path: Path, name: str) -> None:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as book:
        book.writestr("[Content_Types].xml", "<Types/>")
        book.writestr("xl/workbook.xml", "<workbook/>")
    (tmp_path / name).write_bytes(target.getvalue())
    with pytest.raises(UnreadableSource, match="spreadsheet") as caught:
        read(tmp_path / name)
    assert "save it as CSV" in str(caught.value.next_step)
    (tmp_path / "b.xls").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1")
    with pytest.raises(UnreadableSource, match="XLS") as caught:
        read(tmp_path / "b.xls")
    assert "CSV" in str(caught.value.next_step)


@pytest.mark.parametrize(
    "content",
    [
        b"sep=;\n",
        b"sep=;",
        b"\xef\xbb\xbf",
        b",,,\n,,,\n",
        b'"id,text,date\n1,a,b\n',
        b"\n\n\n",
        b";;;",
    ],
)
def test_what_is_no_table_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        read(path)
    assert caught.value.next_step


def test_a_second_separator_in_a_title_does_not_count(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('id;text;date;"event, place, cause"\n1;a;2013-01-01;x\n')
    assert len(read(path).messages) == 1
