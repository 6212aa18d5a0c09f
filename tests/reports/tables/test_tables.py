"""Tables from invented runs: what they hold, how they are drawn, what they say."""

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from eventide.errors import BadSetting, OutputError
from eventide.experiments import Results, RunRecord, Variant
from eventide.experiments.jobs import ExperimentPlan
from eventide.experiments.prepared import ExperimentData
from eventide.experiments.run_log import Figures, Outcome, Seconds, Sizes, ValidationFigures
from eventide.reports import printed_results as paper
from eventide.reports.tables.collection import collect
from eventide.reports.tables.comparison_tables import comparison, controls, seconds
from eventide.reports.tables.significance_table import p_of_runs, significance
from eventide.reports.tables.table import Column, Figure, Table
from eventide.reports.tables.table_files import as_data, failures, page, write_tables
from eventide.reports.tables.table_formats import (
    comma_separated,
    latex,
    left_out,
    markdown,
    terminal,
)
from eventide.scoring.significance import corrected_t_test

TRUTH = [0, 0, 0, 1, 1, 1, 2, 2, 2, 2]


def outcome(right, epoch=0.5):
    predicted = [t if place < right else 3 for place, t in enumerate(TRUTH)]
    return Outcome(
        seconds=Seconds(prepare=1.0, fit=2.0, epoch=epoch, predict=0.25),
        epochs=4,
        best_epoch=3,
        validation=ValidationFigures(accuracy=0.5),
        test=Figures(
            accuracy=right / 10, macro_f1=right / 20, nmi=0.5, ami=0.25, ari=0.125,
            auroc=None if right == 10 else 0.75, uncertainty_right=0.1, uncertainty_wrong=0.2,
        ),
        classes=4,
        messages=Sizes(train=100, validation=5, test=10),
        tested="abc",
        truth=TRUTH,
        predicted=predicted,
        uncertainty=[0.5] * 10,
    )  # fmt: skip


def invented(rights, dataset="crisislex-t7", split="random", notes=None, methods=None, commit=""):
    """Results with the given number of right predictions per variant and seed."""
    plan = ExperimentPlan(dataset, "f", split, "transductive", "tfidf-svd", "rules", "paper")
    variants = tuple(Variant(name, (methods or {}).get(name, "ucl")) for name in rights)
    runs, failed = {}, []
    for name, values in rights.items():
        rows = [
            RunRecord(
                key=f"{name}{seed}", variant=name, method="ucl", note=(notes or {}).get(name, ""),
                dataset=dataset, fingerprint="f", seed=seed, split=split, protocol="transductive",
                encoder="tfidf-svd", entities="rules", preset="paper", views={}, settings={},
                versions={"eventide": "1", "torch": "2"}, threads=1, finished_at="now",
                outcome=None if right is None else outcome(right),
                error="bad\n  luck" if right is None else None, commit=commit,
            )
            for seed, right in enumerate(values)
        ]  # fmt: skip
        runs[name] = tuple(row for row in rows if row.outcome)
        failed += [row for row in rows if not row.outcome]
    seeds = tuple(range(max(map(len, rights.values()))))
    return Results(Path("out/runs.jsonl"), plan, variants, seeds, runs, tuple(failed))


@pytest.mark.parametrize(
    ("name", "accuracy"),
    [
        ("ce", 0.7476), ("cb-focal", 0.7524), ("ldam-drw", 0.7684), ("hybrid-psc", 0.7810),
        ("bcl", 0.8190), ("dro-lt", 0.7886), ("tsc", 0.8143), ("ucl", 0.8081), ("ucl+cb", 0.8157),
        ("ucl-ec", 0.8433), ("ucl-ec+cb", 0.8460), ("twitter-lda", 0.3190), ("word2vec", 0.4429),
        ("bert", 0.6943), ("pp-gcn", 0.7333), ("kpgnn", 0.7567), ("mvgan", 0.7190),
        ("etgnn", 0.7667),
    ],
)  # fmt: skip
def test_every_method_of_the_paper_finds_its_figure(name, accuracy):
    assert paper.figure(name, "crisislex-t7", "acc").mean == accuracy
    assert paper.figure(name, "crisislex-lt28", "acc") is None


def test_markdown_golden():
    results = invented({"ucl": [8, 9], "ucl-ec": [9, 10], "lr-tfidf": [9, 9]})
    assert markdown(comparison(results, ["ucl", "ucl-ec", "lr-tfidf"])) == (
        "### Comparison: crisislex-t7, random split, transductive, tfidf-svd\n\n"
        "| method | ACC | paper's ACC | F1 | paper's F1 | NMI | AMI | ARI | AUROC "
        "| pooled AUROC | runs |\n"
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"
        "| ucl | 85.00 ± 7.07 | 80.81 ± 0.60 | 42.50 ± 3.54 | 80.67 ± 0.62 | **0.500 ± 0.000** "
        "| **0.250 ± 0.000** | **0.125 ± 0.000** | **0.750 ± 0.000** | **0.500** | 2 |\n"
        "| ucl-ec | **95.00 ± 7.07** | 84.33 ± 0.41 | **47.50 ± 3.54** | 83.96 ± 0.53 "
        "| **0.500 ± 0.000** | **0.250 ± 0.000** | **0.125 ± 0.000** | **0.750** | **0.500** | 2 |\n"
        "| lr-tfidf | 90.00 ± 0.00 | - | 45.00 ± 0.00 | - | **0.500 ± 0.000** "
        "| **0.250 ± 0.000** | **0.125 ± 0.000** | **0.750 ± 0.000** | **0.500** | 2 |\n"
        "\nMean ± deviation over runs; AUROC is of doubt (1 - probability of the assigned event) "
        "against error, pooled: over the test messages of all runs together; the best of a column "
        "is marked.\n"
        "\nToo few runs: 2 where the paper has 10.\n"
        "\nRows ucl and ucl-ec are the paper's, without class weights; what eventide train learns by "
        "default is ucl-sharp.\n"
    )


def test_elsewhere_there_is_no_column_for_the_paper_and_ten_runs_are_enough():
    table = comparison(invented({"ucl": [8] * 10, "ce": [7] * 10}, "mine"), ["ucl", "ce"])
    assert not any("paper" in column.title for column in table.columns)
    assert not any("Too few" in note for note in table.notes)


def test_another_split_is_another_task_than_the_papers():
    table = comparison(invented({"ucl": [8]}, split="duplicate-aware"), ["ucl"])
    assert any("another task" in note for note in table.notes)


@pytest.mark.parametrize(
    ("names", "said"),
    [(["ucl", "ce"], True), (["ucl+cb"], False), (["ce"], False), (["ucl", "ucl-sharp"], False)],
)
def test_the_papers_methods_without_the_default_say_so(names, said):
    """Row 8: whoever sees ucl-ec in a table learns that it is not what train learns by default."""
    table = comparison(invented({each: [8] for each in names}), names)
    assert any("by default is ucl-sharp" in note for note in table.notes) == said


def test_a_note_stands_in_its_row():
    results = invented({"mvgan": [8], "ucl": [9]}, notes={"mvgan": "a reconstruction"})
    table = comparison(results, ["mvgan", "ucl"])
    assert table.columns[-1].title == "note"
    assert table.rows[0][-1] == "a reconstruction"
    assert "a reconstruction" in markdown(table)
    assert "a reconstruction" in comma_separated(table)


AWKWARD = Table.build(
    "t",
    "50 % of #a_b & {c} ~^ \\d $",
    [Column("who", "who|what", words=True), Column("v", "v_1", scale=100, best="high")],
    [["a|b_c\nd", Figure(0.5, 0.01)], ["<x> 5 < 6 * 7", Figure(0.25)], ["none", None]],
    ["100 % & more"],
)


def test_latex_escapes_every_special_sign():
    drawn = latex(AWKWARD)
    assert (
        r"50 \% of \#a\_b \& \{c\} \textasciitilde{}\textasciicircum{} \textbackslash{}d \$"
        in drawn
    )
    assert r"\textless{}x\textgreater{}" in drawn
    assert r"$\mathbf{50.00 \pm 1.00}$" in drawn
    assert r"none & - \\" in drawn
    assert r"100 \% \& more" in drawn
    body = drawn.split(r"\midrule")[1].split(r"\bottomrule")[0].strip().split("\\\\\n")
    assert all(line.count("&") - line.count(r"\&") == 1 for line in body if line.strip())


def test_markdown_keeps_cells_in_their_columns():
    lines = markdown(AWKWARD).splitlines()
    assert lines[2] == r"| who\|what | v_1 |"
    assert lines[4] == r"| a\|b_c d | **50.00 ± 1.00** |"
    assert lines[5].startswith(r"| &lt;x> 5 &lt; 6 \* 7 |")


def test_csv_holds_unrounded_numbers_and_deviations_apart():
    rows = list(csv.reader(io.StringIO(comma_separated(AWKWARD))))
    assert rows == [
        ["who", "v", "v_deviation"],
        ["a|b_c\nd", "0.5", "0.01"],
        ["<x> 5 < 6 * 7", "0.25", ""],
        ["none", "", ""],
    ]


def test_what_reads_the_same_is_equally_good_and_one_alone_is_not_best():
    column = Column("v", "v", digits=1, best="low")
    table = Table.build("t", "t", [Column("n", "n", words=True), column], [
        ["a", Figure(0.51)], ["b", Figure(0.54)], ["c", Figure(0.62)],
    ])  # fmt: skip
    assert [row[1].best for row in table.rows] == [True, True, False]
    alone = Table.build("t", "t", [column], [[Figure(1.0)], [None]])
    assert not alone.rows[0][0].best


def test_a_narrow_terminal_loses_spare_columns_and_is_told():
    results = invented({"ucl": [8, 9], "ucl-ec": [9, 10]})
    table = comparison(results, ["ucl", "ucl-ec"])
    assert left_out(table, 500) == []
    assert left_out(table, 80) == ["NMI", "AMI", "ARI", "AUROC", "pooled AUROC"]
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(terminal(table, 80))
    shown = console.export_text()
    assert "95.00 ± 7.07 *" in shown
    assert "NMI" not in shown


def test_significance_says_too_few_runs_below_ten():
    few = significance(invented({"ucl": [6, 7], "ucl-ec": [9, 10]}), ["ucl", "ucl-ec"])
    assert any("Too few runs" in note for note in few.notes)
    assert few.rows[0][1] == Figure(-0.3)
    many = significance(invented({"ucl": [6, 7] * 5, "ucl-ec": [9, 10] * 5}), ["ucl", "ucl-ec"])
    assert not any("Too few runs" in note for note in many.notes)
    assert many.rows[0][4].mean < 0.05
    assert many.columns[4].text(Figure(1e-5)) == "< 0.001"
    assert [row[0] for row in many.rows] == ["ucl"]


@pytest.mark.parametrize("rights", [[9, 9], [9, 8, 9, 8], [9] * 10])
def test_no_p_value_where_the_runs_say_nothing(rights):
    """Row 29: two runs, or runs that all differ alike, gave "p 0.0000"."""
    theirs = [right - 2 for right in rights]
    results = invented({"ucl-ec": rights, "ce": theirs})
    table = significance(results, ["ucl-ec", "ce"])
    assert "p_runs" not in [column.key for column in table.columns]
    assert "0.0000" not in markdown(table)
    assert any("left out below 5 runs" in note for note in table.notes)
    (found,) = as_data(results)["differences"]
    assert found["t_test"]["p_value"] is None


def test_a_p_value_where_there_are_runs_enough():
    assert p_of_runs(corrected_t_test([0.1, 0.2, 0.1, 0.2, 0.1], 0.1)) < 0.05
    assert p_of_runs(corrected_t_test([0.0] * 5, 0.1)) == 1.0


def test_the_reference_is_one_of_the_compared():
    """Row 16: a reference that nobody is, or that was not compared, is an error with a suggestion."""
    results = invented({"ucl": [8], "ce": [7]})
    for asked in ("foo", "ucl-ec"):
        with pytest.raises(BadSetting, match="not among the compared"):
            collect(results, reference=asked)
        with pytest.raises(BadSetting, match="Known: ucl, ce"):
            as_data(results, reference=asked)
    assert "Accuracy against ce" in "".join(t.title for t in collect(results, reference="ce"))


def test_every_table_names_the_code_that_made_it(everything, tmp_path):
    """Row 7: in text, Markdown, LaTeX, CSV, JSON and on the page."""
    rights = {"ce": [7, 8], "ucl": [8, 9]}
    results = invented(rights, commit="abc1234+changes")
    tables = collect(results, data=everything[1])
    assert len(tables) == 4
    for table in tables:
        assert table.remarks[-1] == "Code: commit abc1234+changes"
        assert "\nCode: commit abc1234+changes.\n" in markdown(table)
        assert "Code: commit abc1234+changes." in latex(table)
        rows = list(csv.DictReader(io.StringIO(comma_separated(table))))
        assert {row["code"] for row in rows} == {"commit abc1234+changes"}
    assert "- code: commit abc1234+changes" in page(results, tables)
    assert as_data(results)["code"] == "commit abc1234+changes"
    older = invented(rights)
    assert older.made_by == "eventide 1"


def test_latex_tables_have_a_label_and_fit_a_page():
    """Row 29: a label to refer to, wide tables shrunk, long ones continued."""
    columns = [Column("who", "who", words=True), Column("v", "v")]
    rows = [[f"row {number}", Figure(0.5)] for number in range(80)]
    table = Table("ablation", "Ablation: my_data", tuple(columns), tuple(map(tuple, rows)), ("n",))
    drawn = latex(replace(table, data="my_data.v2"))
    labels = re.findall(r"\\label{(.*?)}", drawn)
    assert labels == [f"tab:ablation-my-data-v2{end}" for end in ("", "-2", "-3")]
    parts = drawn.split(r"\begin{table}")[1:]
    assert [part.count("row ") for part in parts] == [35, 35, 10]
    for part in parts:
        assert part.count(r"\resizebox{\ifdim\width>\linewidth") == 1
        assert part.count("{") == part.count("}")
        assert part.index(r"\caption") < part.index(r"\label") < part.index(r"\begin{tabular}")
    assert [r"\footnotesize n." in part for part in parts] == [False, False, True]
    assert "(continued, part 2)" in parts[1]


def test_controls_are_measured_against_the_whole_method():
    table = controls(
        invented({"ucl-ec": [9, 10], "ucl-ec/no-graph": [7, 9]}), ["ucl-ec", "ucl-ec/no-graph"]
    )
    assert [column.key for column in table.columns][:3] == ["method", "accuracy", "accuracy_change"]
    assert table.columns[2].text(table.rows[1][2]) == "-15.00"
    assert table.rows[0][2] is None


def test_seconds_stand_beside_the_papers():
    table = seconds(invented({"ucl": [8], "ce": [8]}), ["ucl", "ce"])
    cells = dict(zip([column.key for column in table.columns], table.rows[0], strict=True))
    assert cells["paper_epoch"] == Figure(3.31)
    assert cells["epoch"].mean == 0.5
    assert table.rows[1][2] is None


@pytest.fixture
def everything(small_sample):
    from eventide.features.elements import with_elements

    rights = {"ce": [7, 8], "ucl": [8, 9], "psc+m": [8, 8], "ucl-ec": [9, None], "ucl-ec/user": [5]}
    results = invented(rights, "events2012-100", methods={"ce": "ce", "ucl-ec": "ucl-ec"})
    return results, ExperimentData("events2012-100", with_elements(small_sample), "f")


def test_groups_bring_their_tables(everything):
    results, data = everything
    found = {t.name: t for t in collect(results, ("long-tail", "ablation"), data=data)}
    assert list(found) == [
        "long-tail", "ablation", "comparison", "significance", "seconds", "view-quality",
    ]  # fmt: skip
    assert [row[0] for row in found["long-tail"].rows] == ["ce", "ucl", "ucl-ec"]
    assert [row[0] for row in found["comparison"].rows] == ["ucl-ec/user"]
    ablation = found["ablation"]
    places = {column.key: place for place, column in enumerate(ablation.columns)}
    fixed = next(row for row in ablation.rows if row[0] == "psc+m")
    assert fixed[places["paper_accuracy"]] == Figure(0.8957)
    assert found["view-quality"].rows[0][-1] == Figure(0.7355)
    assert "comparison" in [table.name for table in collect(results)]


def test_everything_is_written_and_failures_are_said(everything, tmp_path):
    results, data = everything
    tables = collect(results, ("long-tail",), data=data)
    written = write_tables(results, tables, tmp_path / "new")
    assert all(path.is_file() for path in written)
    assert {path.suffix for path in written} == {".md", ".tex", ".csv"}
    text = written[0].read_text("utf-8")
    assert text == page(results, tables)
    assert "ucl-ec (seed 1): bad luck" in text
    assert "20 validation and 30 test" in text
    assert failures(results) == ["ucl-ec (seed 1): bad luck"]
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(OutputError, match="cannot write"):
        write_tables(results, tables, blocked)


def test_programs_get_plain_data(everything):
    results, _ = everything
    data = json.loads(json.dumps(as_data(results, ["left out: x"]), allow_nan=False))
    assert data["notes"] == ["left out: x"]
    ucl = next(each for each in data["variants"] if each["name"] == "ucl")
    assert ucl["accuracy"] == {
        "mean": pytest.approx(0.85),
        "deviation": pytest.approx(0.0707, abs=1e-4),
        "runs": 2,
    }
    assert ucl["paper"]["accuracy"]["mean"] == 0.9221
    assert [each["variant"] for each in data["differences"]] == [
        "ce",
        "ucl",
        "psc+m",
        "ucl-ec/user",
    ]
    assert data["failures"] == [{"variant": "ucl-ec", "seed": 1, "error": "bad\n  luck"}]
