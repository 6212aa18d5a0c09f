"""More of the kind: what careless, hasty and hostile hands give to the program."""

import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import polars as pl
import pytest

import eventide
from bench import Bench, process
from cases_known import fitted, stopped
from eventide.errors import BadSetting, DamagedBundle, EventideError, InputError, UnreadableSource
from eventide.training.checkpoints import has_checkpoint
from processes import first_line, until


def table(rows: list[dict], separator: str = ",") -> str:
    return pl.DataFrame(rows).write_csv(separator=separator)


# Files that are not what they seem


def m_empty_file(bench: Bench):
    bench.run("check", bench.write("m.csv", "")).fails("empty")


def m_only_a_header(bench: Bench):
    bench.train(bench.write("m.csv", "id,text,created_at,event\n")).fails()


def m_file_that_is_not_there(bench: Bench):
    bench.train(bench.folder / "nothing.csv").fails("no such file")


def m_broken_link(bench: Bench):
    (bench.folder / "m.csv").symlink_to(bench.folder / "gone.csv")
    bench.run("check", bench.folder / "m.csv").fails()


def m_a_folder(bench: Bench):
    (bench.folder / "m.csv").mkdir()
    bench.run("check", bench.folder / "m.csv").fails("folder")


def m_a_picture_called_csv(bench: Bench):
    bench.run("check", bench.write("m.csv", b"\x89PNG\r\n\x1a\n" + bytes(range(256)))).fails()


def m_half_a_gzip_file(bench: Bench):
    whole = gzip.compress(bench.jsonl().read_bytes())
    bench.run("check", bench.write("m.jsonl.gz", whole[: len(whole) // 2])).fails("gzip")


def m_half_a_parquet_file(bench: Bench):
    path = bench.folder / "m.parquet"
    bench.messages.write_parquet(path)
    bench.run("check", bench.write("half.parquet", path.read_bytes()[:2000])).fails()


def m_json_array_cut_off(bench: Bench):
    text = json.dumps(bench.rows)
    bench.run("check", bench.write("m.json", text[: len(text) // 2])).sound()


def m_json_of_something_else(bench: Bench):
    bench.run("check", bench.write("m.json", '{"weather": "fine"}')).fails()


def m_a_workbook(bench: Bench):
    with_zip = b"PK\x03\x04" + b"\x00" * 200
    bench.run("check", bench.write("m.xlsx", with_zip)).fails()


def m_device_null(bench: Bench):
    bench.run("check", "/dev/null").fails("empty")


# A spreadsheet's exports


def m_byte_order_mark(bench: Bench):
    bench.run("check", bench.write("m.csv", b"\xef\xbb\xbf" + table(bench.rows).encode())).works()


def m_semicolons(bench: Bench):
    shown = bench.run("check", bench.write("m.csv", table(bench.rows, ";")), "--json").works()
    assert json.loads(shown.out)["rows"]["kept"] == len(bench.rows)


def m_tabs(bench: Bench):
    bench.run("check", bench.write("m.tsv", table(bench.rows, "\t"))).works()


def m_excel_separator_line(bench: Bench):
    shown = bench.run("check", bench.write("m.csv", "sep=;\r\n" + table(bench.rows, ";"))).sound()
    assert shown.code == 0 or "next:" in shown.err


def m_utf16(bench: Bench):
    bench.run("check", bench.write("m.csv", table(bench.rows).encode("utf-16"))).works()


def m_windows_letters(bench: Bench):
    rows = [{**row, "text": f"{row['text']} café – “zitiert”"} for row in bench.rows]
    shown = bench.train(bench.write("m.csv", table(rows).encode("cp1252")))
    shown.works("cp1252")


def m_wrong_encoding_named(bench: Bench):
    bench.run("check", bench.csv(), "--encoding", "klingon").fails("klingon")


def m_line_ends_and_line_breaks(bench: Bench):
    rows = [{**row, "text": f"{row['text']}\nand more"} for row in bench.rows]
    bench.train(bench.write("m.csv", table(rows).replace("\n", "\r\n").encode())).works()


def m_nul_bytes(bench: Bench):
    text = table(bench.rows).replace("fire", "fi\0re", 1)
    bench.run("check", bench.write("m.csv", text)).sound()


def m_columns_named_twice(bench: Bench):
    bench.run("check", bench.write("m.csv", "id,text,text,created_at\n1,a,b,2024-01-01\n")).sound()


def m_ids_through_a_spreadsheet(bench: Bench):
    rows = [{**row, "id": f"5.4012{n:03d}E+17"} for n, row in enumerate(bench.rows)]
    bench.train(bench.csv(rows=rows)).fails("digits")


def m_empty_rows_at_the_end(bench: Bench):
    bench.train(bench.write("m.csv", table(bench.rows) + ",,,,,\n" * 3)).works()


# Times


def m_days_first(bench: Bench):
    rows = [day_first(row) for row in bench.rows]
    bench.train(bench.csv(rows=rows), "--day-first").works()


def m_days_first_guessed(bench: Bench):
    rows = [day_first(row) for row in bench.rows]
    rows[0]["created_at"] = "25/12/2023 10:00"
    bench.train(bench.csv(rows=rows)).works("day")


def m_days_or_months(bench: Bench):
    rows = [
        {**row, "created_at": f"0{n % 9 + 1}/0{n % 7 + 1}/2024"} for n, row in enumerate(bench.rows)
    ]
    bench.train(bench.csv(rows=rows)).fails("--day-first")


def m_time_format(bench: Bench):
    rows = [
        {**row, "created_at": row["created_at"].replace("-", "_").replace("T", " at ")}
        for row in bench.rows
    ]
    bench.train(bench.csv(rows=rows), "--time-format", "%Y_%m_%d at %H:%M:%SZ").works()


def m_time_zone_names(bench: Bench):
    rows = [
        {**row, "created_at": row["created_at"].replace("T", " ").replace("Z", " CET")}
        for row in bench.rows
    ]
    bench.train(bench.csv(rows=rows)).works()


def m_microseconds(bench: Bench):
    times = bench.messages["created_at"].dt.epoch("us").to_list()
    rows = [{**row, "created_at": each} for row, each in zip(bench.rows, times, strict=True)]
    bench.train(bench.csv(rows=rows)).works()


def m_no_times_at_all(bench: Bench):
    rows = [{k: v for k, v in row.items() if k != "created_at"} for row in bench.rows]
    bench.train(bench.csv(rows=rows)).works("time")


def m_the_year_9999(bench: Bench):
    bench.train(bench.csv(rows=[{**row, "created_at": "9999-01-01"} for row in bench.rows])).fails(
        "created_at"
    )


# Messages


def m_ids_twice(bench: Bench):
    bench.train(bench.csv(rows=[*bench.rows, *bench.rows[:5]])).works("5 reject")


def m_no_ids(bench: Bench):
    rows = [{k: v for k, v in row.items() if k != "id"} for row in bench.rows]
    bench.train(bench.csv(rows=rows)).works("id")


def m_half_characters(bench: Bench):
    path = bench.jsonl()
    path.write_text(
        path.read_text() + '{"id": "s", "text": "\\ud800", "created_at": "2024-01-01"}\n'
    )
    bench.train(path).works("1 reject")


def m_a_text_of_twelve_megabytes(bench: Bench):
    rows = bench.rows
    rows[0]["text"] = "#flood in Calgary " * (12_000_000 // 18)
    started = time.process_time()
    bench.train(bench.jsonl(rows=rows)).works()
    assert time.process_time() - started < 15


def m_texts_all_empty(bench: Bench):
    bench.train(bench.csv(rows=[{**row, "text": " "} for row in bench.rows])).fails("text")


def m_texts_all_the_same(bench: Bench):
    bench.train(bench.csv(rows=[{**row, "text": "the same"} for row in bench.rows])).sound()


def m_one_event(bench: Bench):
    bench.train(bench.csv(rows=[{**row, "event": "fire"} for row in bench.rows])).fails(
        "two events"
    )


def m_no_event(bench: Bench):
    rows = [{k: v for k, v in row.items() if k != "event"} for row in bench.rows]
    bench.train(bench.csv(rows=rows)).fails("event")


def m_event_of_one_message(bench: Bench):
    rows = [{k: v for k, v in row.items() if k != "split"} for row in bench.rows]
    bench.train(bench.csv(rows=[*rows, {**rows[0], "id": "new", "event": "alone"}])).works(
        "4 events"
    )


def m_split_misspelt(bench: Bench):
    bench.train(bench.csv(rows=[{**row, "split": "training!"} for row in bench.rows])).fails(
        "split"
    )


def m_split_without_training_rows(bench: Bench):
    bench.train(bench.csv(rows=[{**row, "split": "test"} for row in bench.rows])).fails("train")


def m_escape_codes(bench: Bench):
    red = "\x1b[31m\x07\u202e"
    rows = [{**row, "id": f"{row['id']}{red}", "text": f"{red}{row['text']}"} for row in bench.rows]
    source = bench.jsonl(rows=rows)
    for words in (
        ("assign", bench.model, source),
        ("explain", bench.model, source),
        ("check", source),
    ):
        assert "\x1b[31m" not in bench.run(*words).works().said
    missing = bench.folder / f"no{red}such.csv"
    assert "\x1b[31m" not in bench.run("check", missing).fails().said


def m_events_with_escape_codes(bench: Bench):
    rows = [{**row, "event": f"\x1b[2J{row['event']}"} for row in bench.rows]
    assert "\x1b[2J" not in bench.train(bench.jsonl(rows=rows)).works().said
    for verb in ("evaluate", "assign", "explain"):
        assert "\x1b[2J" not in bench.run(verb, "trained", "messages.jsonl").sound().said


def m_vectors_of_two_lengths(bench: Bench):
    rows = [{**row, "vector": [1.0, n, 0.5][: 3 if n else 2]} for n, row in enumerate(bench.rows)]
    bench.train(bench.jsonl(rows=rows), "--encoder", "precomputed").works("1 reject")


def m_vectors_that_are_no_numbers(bench: Bench):
    rows = [{**row, "vector": ["a", "b"]} for row in bench.rows]
    bench.train(bench.jsonl(rows=rows), "--encoder", "precomputed").fails("vector")


def m_no_vectors(bench: Bench):
    bench.train(bench.jsonl(), "--encoder", "precomputed").fails("vector")


# Words of the command line


def m_unknown_method(bench: Bench):
    bench.train(bench.jsonl(), "--method", "ucl-ce").fails("ucl-ec")


def m_unknown_preset(bench: Bench):
    bench.train(bench.jsonl(), "--preset", "papr").fails("paper")


def m_unknown_encoder(bench: Bench):
    bench.run("train", bench.jsonl(), "--out", "m", "--encoder", "wordlama").fails("wordllama")


def m_encoder_of_no_width(bench: Bench):
    bench.run("train", bench.jsonl(), "--out", "m", "--encoder", "tfidf-svd:-3").fails()


def m_settings_out_of_bounds(bench: Bench):
    for setting in (
        "training.epochs=0",
        "training.epochs=many",
        "training.epoch=3",
        "loss.margin=huge",
        "epochs=3",
    ):
        bench.train(bench.jsonl(), "--set", setting).fails()


def m_malformed_pairs(bench: Bench):
    for words in (
        ("--column", "id"),
        ("--column", "=x"),
        ("--view", "tags"),
        ("--set", "nonsense"),
    ):
        bench.train(bench.jsonl(), *words).fails()


def m_unknown_protocol_and_entities(bench: Bench):
    bench.train(bench.jsonl(), "--protocol", "inductiv").fails("inductive")
    bench.train(bench.jsonl(), "--entities", "ruls").fails("rules")


def m_unknown_device(bench: Bench):
    for device in ("mps", "cuda:7", "tpu"):
        bench.train(bench.jsonl(), "--set", f"training.device={device}").fails(device)


def m_rows_misspelt(bench: Bench):
    bench.run("evaluate", bench.model, bench.jsonl(), "--rows", "tets").fails("test")


def m_names_misspelt_in_comparisons(bench: Bench):
    source = bench.jsonl()
    bench.run("compare", source, "--methods", "ucl-ecc").fails("ucl-ec")
    bench.run("compare", source, "--seeds", "none").fails("seed")
    bench.run("compare", source, "--split", "cronological").fails("chronological")
    bench.run("figure", "grups", source).fails("groups")
    bench.run("claims", source, "--only", "ordr").fails("order")


def m_dataset_that_was_not_built(bench: Bench):
    bench.run("check", "crisislex-t9").fails()


def m_out_without_a_known_ending(bench: Bench):
    bench.run("assign", bench.model, bench.jsonl(), "--out", "opinions.doc").fails(".csv")


def m_out_onto_an_older_file(bench: Bench):
    older = bench.write("o.csv", "mine")
    bench.run("assign", bench.model, bench.jsonl(), "--out", older).fails("--overwrite")
    assert older.read_text() == "mine"
    bench.run("assign", bench.model, bench.jsonl(), "--out", older, "--overwrite").works()
    assert len(pl.read_csv(older)) == len(bench.rows)


def m_rejected_onto_the_input(bench: Bench):
    source = bench.csv()
    before = source.read_bytes()
    bench.run("check", source, "--rejected", source).fails()
    assert source.read_bytes() == before


def m_home_folder(bench: Bench):
    bench.patch.setenv("HOME", str(bench.folder / "home"))
    bench.train(bench.jsonl(), out="~/models/first").works()
    assert (bench.folder / "home" / "models" / "first" / "manifest.json").is_file()
    assert not (bench.folder / "~").exists()
    assert eventide.load("~/models/first") is not None


def m_names_with_blanks(bench: Bench):
    source = bench.jsonl("my messages.jsonl")
    shown = bench.run("check", source).works()
    assert "'my messages.jsonl'" in shown.said or "my messages.jsonl'" in shown.said


def m_standard_input(bench: Bench):
    shown = bench.run("assign", bench.model, "-", "--json", stdin=bench.jsonl().read_text()).works()
    assert len(shown.out.splitlines()) == len(bench.rows)


def m_several_files(bench: Bench):
    half = len(bench.rows) // 2
    first, second = (
        bench.jsonl("a-1.jsonl", bench.rows[:half]),
        bench.jsonl("a-2.jsonl", bench.rows[half:]),
    )
    for sources in ((first, second), ("a-*.jsonl",)):
        shown = bench.run("assign", bench.model, *sources, "--json").works()
        assert len(shown.out.splitlines()) == len(bench.rows)


def m_reader_that_leaves(bench: Bench):
    command = f"{sys.executable} -m eventide assign {bench.model} {bench.jsonl()} --json | head -1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, timeout=120, check=False)
    assert done.stdout.count(b"\n") == 1
    assert b"Traceback" not in done.stderr


# Models


def m_not_a_model(bench: Bench):
    bench.run("assign", bench.folder / "nothing", bench.jsonl()).fails("no model")
    bench.run("assign", bench.jsonl(), bench.jsonl()).fails()


def m_checkpoint_as_model(bench: Bench):
    source = stopped(bench)
    place = next((bench.folder / "trained.checkpoint").rglob("manifest.json")).parent
    bench.run("assign", place, source).fails("model")


def m_weights_cut_off(bench: Bench):
    weights = bench.model / "weights.safetensors"
    weights.write_bytes(weights.read_bytes()[:100])
    bench.run("assign", bench.model, bench.jsonl()).fails("weights")


def m_weights_of_another_model(bench: Bench):
    bench.train(bench.jsonl(), "--set", "network.hidden=16", out="other").sound()
    if (bench.folder / "other").exists():
        shutil.copy(
            bench.folder / "other" / "weights.safetensors", bench.model / "weights.safetensors"
        )
        bench.run("assign", bench.model, bench.jsonl()).fails("weights")


def m_manifest_of_noise(bench: Bench):
    (bench.model / "manifest.json").write_bytes(b"\xff\xfe{")
    bench.run("assign", bench.model, bench.jsonl()).fails("manifest")


def m_manifest_that_leads_away(bench: Bench):
    outside = bench.write("outside.safetensors", (bench.model / "weights.safetensors").read_bytes())

    def lead_away(manifest):
        manifest["files"][f"../{outside.name}"] = manifest["files"].pop("weights.safetensors")

    bench.manifest(lead_away)
    with pytest.raises(DamagedBundle):
        eventide.load(bench.model)


def m_model_behind_a_link(bench: Bench):
    link = bench.folder / "link"
    link.symlink_to(bench.model)
    bench.run("assign", link, bench.jsonl()).works()


def m_model_that_wants_a_download(bench: Bench):
    def want(manifest):
        manifest["facts"]["parameters"]["encoder"] = "transformers:evil/model"

    bench.manifest(want)
    with pytest.raises(EventideError):
        eventide.load(bench.model)


def m_checkpoint_damaged(bench: Bench):
    source = stopped(bench)
    for weights in (bench.folder / "trained.checkpoint").rglob("weights.safetensors"):
        weights.write_bytes(b"noise")
    bench.train(source, "--resume", "--set", "training.epochs=6").fails()


def m_resume_with_another_seed(bench: Bench):
    source = stopped(bench)
    bench.train(source, "--resume", "--set", "training.epochs=6", "--seed", 7).fails("seed")


def m_resume_without_a_checkpoint(bench: Bench):
    bench.train(bench.jsonl(), "--resume").fails("checkpoint")


# Assigning, evaluating, explaining, forgetting


def m_edited_post(bench: Bench):
    rows = bench.rows
    rows[0]["text"] = "something else altogether"
    bench.run("assign", bench.model, bench.jsonl(rows=rows)).works("1")


def m_assign_nothing(bench: Bench):
    bench.run("assign", bench.model, bench.write("m.jsonl", "\n\n")).fails()


def m_evaluate_without_labels(bench: Bench):
    rows = [{k: v for k, v in row.items() if k != "event"} for row in bench.rows]
    bench.run("evaluate", bench.model, bench.jsonl(rows=rows)).fails("label")


def m_evaluate_unknown_events(bench: Bench):
    rows = [{**row, "id": f"x{row['id']}", "event": "unheard of"} for row in bench.rows]
    bench.run("evaluate", bench.model, bench.jsonl(rows=rows)).works("does not know")


def m_explain_an_unknown_message(bench: Bench):
    bench.run("explain", bench.model, bench.jsonl(), "--id", "nobody").fails("nobody")


def m_forget_what_is_not_there(bench: Bench):
    bench.run("forget", bench.model, "--id", "nobody").fails()
    bench.run("forget", bench.model).fails("--id")


def m_forget_everything(bench: Bench):
    words = [word for each in bench.messages["id"] for word in ("--id", each)]
    bench.run("forget", bench.model, *words).fails("every")
    eventide.load(bench.model)


def m_forget_with_an_at_sign(bench: Bench):
    user = bench.messages["user"].drop_nulls()[0]
    bench.run("forget", bench.model, "--user", f"@{user}").works("forgotten")


# Python


def m_sources_of_all_kinds(bench: Bench):
    model = eventide.load(bench.finished)
    texts = bench.messages["text"].to_list()[:4]
    assert len(model.predict(texts)) == 4
    assert len(model.predict(pl.Series(texts))) == 4
    assert len(model.predict(row for row in bench.rows[:4])) == 4
    assert len(model.predict(bench.messages.head(4).to_arrow())) == 4
    assert len(model.predict(bench.messages.head(4).to_pandas())) == 4
    for wrong in (None, 42, [], {}, b"bytes", object()):
        with pytest.raises(InputError):
            model.predict(wrong)


def m_labels_of_another_length(bench: Bench):
    with pytest.raises(InputError, match="labels"):
        fitted(bench).fit(bench.messages, ["a", "b"])


def m_labels_that_are_numbers(bench: Bench):
    numbers = bench.messages["event"].rank("dense").cast(pl.Int64).to_numpy()
    model = fitted(bench).fit(bench.messages.drop("event", "split"), numbers)
    assert model.predict(bench.messages).dtype.kind == "i"
    model.save(bench.folder / "m")
    assert eventide.load(bench.folder / "m").predict(bench.messages).dtype.kind == "i"


def m_bad_parameter_changes_nothing(bench: Bench):
    model = fitted(bench)
    before = model.get_params()
    for wrong in ({"training__epochs": -1}, {"method": "nonsense"}, {"training__epoch": 3}):
        with pytest.raises(InputError):
            model.set_params(seed=5, **wrong)
        assert model.get_params() == before


def m_save_twice(bench: Bench):
    model = eventide.load(bench.finished)
    model.save(bench.folder / "m")
    with pytest.raises(EventideError, match="overwrite"):
        model.save(bench.folder / "m")
    model.save(bench.folder / "m", overwrite=True)


def m_save_with_a_function_inside(bench: Bench):
    def lengths(texts):
        return np.array([[len(each), 1] for each in texts], dtype=np.float32)

    model = fitted(bench, encoder=lengths).fit(bench.messages)
    model.save(bench.folder / "m")
    with pytest.raises(EventideError, match="encoder"):
        eventide.load(bench.folder / "m")
    again = eventide.load(bench.folder / "m", encoder=lengths)
    assert np.allclose(again.predict_proba(bench.messages), model.predict_proba(bench.messages))


def m_names_of_nothing(bench: Bench):
    for wrong in (
        {"method": "x"},
        {"encoder": "x"},
        {"preset": "x"},
        {"protocol": "x"},
        {"entities": "x"},
    ):
        with pytest.raises(InputError):
            fitted(bench, **wrong).fit(bench.messages)


def m_columns_of_nothing(bench: Bench):
    with pytest.raises((BadSetting, InputError)):
        fitted(bench, columns={"texxt": "text"}).fit(bench.messages)
    with pytest.raises(UnreadableSource):
        eventide.load(bench.finished).predict("no such file.csv")


# A machine that does not behave


def m_interrupted_in_training(bench: Bench):
    """Ctrl-C as a person gives it: one line, how to go on, and that works when pasted."""
    source = bench.jsonl()
    words = [
        "train",
        source,
        "--out",
        "trained",
        "--encoder",
        "tfidf-svd:8",
        "--checkpoint-every",
        1,
    ]
    words += ["--set", "training.epochs=4000", "--set", "training.patience=null"]
    command = [sys.executable, "-m", "eventide", *map(str, words)]
    started = subprocess.Popen(
        command, cwd=bench.folder, stderr=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:

        def begun() -> bool:
            assert started.poll() is None, started.communicate()
            return has_checkpoint(bench.folder / "trained.checkpoint")  # no half one

        until(begun, "the first checkpoint")
        started.send_signal(signal.SIGINT)
        _, error = started.communicate(timeout=120)
    finally:
        if started.poll() is None:
            started.kill()
    assert b"Traceback" not in error
    assert b"--resume" in error
    assert started.returncode in (1, 130)


def m_small_terminal(bench: Bench):
    shown = process(
        "assign", bench.model, bench.jsonl(), cwd=bench.folder, COLUMNS="80", TERM="xterm"
    ).works()
    lines = [line for line in shown.out.splitlines() if not line.startswith("  eventide ")]
    assert max(map(len, lines)) <= 80  # but a command to paste is never cut
    assert bench.messages["event"][0][:8] in shown.out


def m_unwritable_data_folder(bench: Bench):
    bench.patch.setenv("EVENTIDE_DATA", str(bench.write("a-file", "mine")))
    bench.run("data", "build", "crisislex-t7", "--from", bench.folder).sound()
    assert (bench.folder / "a-file").read_text() == "mine"


def m_killed_while_saving(bench: Bench):
    """A model that is being replaced when its writer dies: the old or the new one is there."""
    code = (
        "import sys, eventide\n"
        "model = eventide.load(sys.argv[1])\n"
        "print('ready', flush=True)\n"
        "while True:\n"
        "    model.save(sys.argv[1], overwrite=True)\n"
    )
    for wait in (0.02, 0.11):
        writer = subprocess.Popen(
            [sys.executable, "-c", code, str(bench.model)], stdout=subprocess.PIPE
        )
        assert writer.stdout is not None
        assert first_line(writer) == b"ready\n"
        time.sleep(wait)
        os.kill(writer.pid, signal.SIGKILL)
        writer.wait()
        writer.stdout.close()
        assert len(eventide.load(bench.model).classes_) == 3


def day_first(row: dict) -> dict:
    date, clock = row["created_at"].rstrip("Z").split("T")
    year, month, day = date.split("-")
    return {**row, "created_at": f"{day}/{month}/{year} {clock[:5]}"}


CASES = {name[2:]: case for name, case in globals().items() if name.startswith("m_")}
