"""The 49 failures found by use, one function each; the number is the one of the list."""

import json
import os
import shutil
import threading
import time

import numpy as np
import polars as pl
import pytest

import eventide
from bench import Bench, another_user, process, small_disk
from eventide.errors import BadSetting, EventideError, EventideWarning

HEAD = "id,text,created_at,event\n"
ROW = "{0},fire number {0},2024-01-{1:02d}T10:00:00Z,fire\n"
SOUND = HEAD + "".join(ROW.format(n, n % 27 + 1) for n in range(1, 30))


def fitted(bench: Bench, **changes):
    parameters = {
        "encoder": "tfidf-svd:8",
        "training__epochs": 1,
        "training__batch_size": 64,
    } | changes
    return eventide.EventClassifier(**parameters)


def quarantined(bench: Bench, path) -> int:
    """How many rows ``check`` sets aside; its page is printed too, for a person."""
    bench.run("check", path).works("quarantined")
    return json.loads(bench.run("check", path, "--json").works().out)["rows"]["quarantined"]


def f01_csv_record_too_long(bench: Bench):
    assert (
        quarantined(bench, bench.write("m.csv", SOUND + "98,one,2024-01-01,fire,too,many\n")) == 1
    )


def f02_csv_record_too_short(bench: Bench):
    assert quarantined(bench, bench.write("m.csv", SOUND + "98,one\n")) == 1


def f03_unclosed_quote(bench: Bench):
    assert quarantined(bench, bench.write("m.csv", SOUND + '98,"one,2024-01-01,fire\n')) == 1


def f04_broken_json_line(bench: Bench):
    path = bench.jsonl()
    path.write_text(path.read_text() + '{"id": "x", "text"\n')
    assert quarantined(bench, path) == 1


def f05_learning_rate_too_high(bench: Bench):
    words = ("--set", "training.learning_rate=1e30", "--set", "training.epochs=4")
    bench.train(bench.jsonl(), *words).fails("epoch", "learning_rate", code=1)
    assert not (bench.folder / "trained").exists()


def f06_vectors_too_large(bench: Bench):
    rows = [{**row, "vector": [1e38, -1e38, 3e38]} for row in bench.rows]
    bench.train(
        bench.jsonl(rows=rows), "--encoder", "precomputed", "--set", "training.epochs=3"
    ).sound()
    outcome = bench.train(bench.jsonl(rows=rows), "--encoder", "precomputed", out="other")
    assert outcome.code in (1, 2)
    assert not (bench.folder / "other").exists()


def f07_seed_too_large(bench: Bench):
    bench.train(bench.jsonl(), "--seed", 2**70).fails("seed")


def f08_out_is_a_file(bench: Bench):
    taken = bench.write("taken", "mine")
    bench.train(bench.jsonl(), out=taken).fails("file")
    assert taken.read_text() == "mine"


def f09_out_is_here(bench: Bench):
    bench.train(bench.jsonl(), out=".").fails("folder")


def f10_out_is_the_root(bench: Bench):
    bench.train(bench.jsonl(), out="/").fails("folder")


def f11_train_into_a_read_only_folder(bench: Bench):
    source = bench.jsonl()
    with small_disk(bench.folder / "disk", read_only=True) as disk:
        bench.train(source, out=disk / "m").fails("writ")


def f12_train_onto_a_full_disk(bench: Bench):
    source = bench.jsonl()
    with small_disk(bench.folder / "disk", 16) as disk:
        outcome = bench.train(source, "--encoder", "tfidf-svd:64", out=disk / "m").sound()
        assert outcome.code in (1, 2)
        assert "next:" in outcome.err
        assert not (disk / "m").exists()


def f13_checkpoint_onto_a_full_disk(bench: Bench):
    source = bench.jsonl()
    with small_disk(bench.folder / "disk", 16) as disk:
        outcome = bench.train(source, "--checkpoint-every", 1, out=disk / "m").sound()
        assert outcome.code in (1, 2)
        assert [each for each in disk.rglob("*") if each.is_file() and each.suffix != ".lock"] == []


def f14_forget_onto_a_full_disk(bench: Bench):
    with small_disk(bench.folder / "disk", 2000) as disk:
        model = disk / "m"
        shutil.copytree(bench.model, model)
        filler = disk / "filler"
        fill(filler)
        known = bench.messages["id"][0]
        bench.run("forget", model, "--id", known).fails("cannot write", code=1)
        filler.unlink()
        eventide.load(model)


def f15_assign_into_a_read_only_folder(bench: Bench):
    source = bench.jsonl()
    with small_disk(bench.folder / "disk", read_only=True) as disk:
        bench.run("assign", bench.model, source, "--out", disk / "o.csv").fails("writ")


def f16_assign_out_is_a_folder(bench: Bench):
    (bench.folder / "o.csv").mkdir()
    bench.run("assign", bench.model, bench.jsonl(), "--out", "o.csv").fails("folder")


def f17_figure_into_a_read_only_folder(bench: Bench):
    with small_disk(bench.folder / "disk", read_only=True) as disk:
        bench.run("figure", "architecture", "--out", disk / "f.png").fails("writ")


def f18_setting_of_a_later_release(bench: Bench):
    bench.manifest(lambda m: m["facts"]["settings"]["training"].update(hyperdrive=3))
    bench.run("assign", bench.model, bench.jsonl()).fails()


def f19_manifest_without_classes(bench: Bench):
    bench.manifest(lambda m: m["facts"].pop("classes"))
    bench.run("assign", bench.model, bench.jsonl()).fails()


def f20_manifest_with_another_number_of_classes(bench: Bench):
    bench.manifest(lambda m: m["facts"]["classes"].append("one more"))
    bench.run("assign", bench.model, bench.jsonl()).fails()


def f21_file_removed_from_the_manifest(bench: Bench):
    bench.manifest(lambda m: m["files"].pop("weights.safetensors"))
    bench.run("assign", bench.model, bench.jsonl()).fails()


def f22_model_of_another_user(bench: Bench):
    source, model = bench.jsonl(), bench.model
    bench.run("assign", model, source).works()
    for each in (bench.folder, *bench.folder.parents):
        if each.stat().st_uid == os.geteuid() and "pytest" in str(each):
            each.chmod(0o755)
    for each in model.iterdir():
        each.chmod(0o600)
    with another_user():
        bench.run("assign", model, source).fails()


def f23_resume_with_other_views(bench: Bench):
    source = stopped(bench)
    bench.train(source, "--resume", "--view", "only=hashtags").fails("views")


def f24_ascii_terminal(bench: Bench):
    rows = [{**row, "text": f"{row['text']} 🔥 Überflutung"} for row in bench.rows[:20]]
    source = bench.jsonl(rows=[{**row, "id": f"n{row['id']}"} for row in rows])
    for verb in ("assign", "evaluate"):
        done = process(
            verb,
            bench.model,
            source,
            cwd=bench.folder,
            LC_ALL="C",
            PYTHONIOENCODING="ascii",
            PYTHONUTF8="0",
        )
        done.works()


def f25_seeds_of_all_kinds(bench: Bench):
    assert (
        fitted(bench, seed=np.int64(3)).fit(bench.messages).predict(bench.messages[:1]) is not None
    )
    for wrong in (None, -1, 1.5, 2**70, "x"):
        with pytest.raises(BadSetting, match="seed"):
            fitted(bench, seed=wrong).fit(bench.messages)


def f26_settings_of_numpy_and_sets_in_views(bench: Bench):
    model = fitted(bench, training__epochs=np.int64(1), views={"tags": {"hashtags"}}).fit(
        bench.messages
    )
    model.save(bench.folder / "m")
    again = eventide.load(bench.folder / "m")
    assert np.allclose(again.predict_proba(bench.messages), model.predict_proba(bench.messages))


def f27_encoder_is_a_function(bench: Bench):
    def lengths(texts):
        return np.array([[len(each), each.count(" ")] for each in texts], dtype=np.float32)

    model = fitted(bench, encoder=lengths).fit(bench.messages)
    assert model.predict_proba(bench.messages[:3]).shape[0] == 3


def f28_predict_after_a_fork(bench: Bench):
    model, few = eventide.load(bench.finished), bench.messages.head(3).to_dicts()
    model.predict_proba(few)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            model.predict_proba(few)
            code = 0
        except EventideError:
            code = 0
        finally:
            os._exit(code)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            assert status == 0
            return
        time.sleep(0.05)
    os.kill(child, 9)
    os.waitpid(child, 0)
    pytest.fail("no answer in a forked child within a minute")


def f29_one_model_many_threads(bench: Bench):
    model = eventide.load(bench.finished)
    singles = [[row] for row in bench.messages.drop("event", "split").to_dicts()[:40]]
    alone = [model.predict_proba(each, as_new=True)[0] for each in singles]
    wrong: list[int] = []

    def work(offset: int) -> None:
        for index in range(offset, offset + 40):
            said = model.predict_proba(singles[index % 40], as_new=True)[0]
            if np.abs(said - alone[index % 40]).max() > 1e-6:
                wrong.append(index)

    threads = [threading.Thread(target=work, args=(5 * n,)) for n in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not wrong


def f30_missing_labels_in_y(bench: Bench):
    import pandas as pd

    y = pd.Series(bench.messages["event"].to_list(), dtype=object)
    y[0], y[1], y[2], y[3] = float("nan"), pd.NA, "", None
    frame = bench.messages.drop("event", "split")
    model = fitted(bench).fit(frame, y)
    assert set(model.classes_) <= set(bench.messages["event"])


def f31_labels_that_say_none(bench: Bench):
    rows = bench.rows
    for row, said in zip(rows, ("NA", "N/A", "nan", rows[5]["event"].upper()), strict=False):
        row["event"] = said
    shown = bench.run("check", bench.csv(rows=rows)).works()
    assert "N/A" in shown.said
    assert "kept apart" in shown.said


def f32_rejected_rows_are_told(bench: Bench):
    rows = [
        {**row, "created_at": "someday"} if n % 10 == 0 else row for n, row in enumerate(bench.rows)
    ]
    count = sum(row["created_at"] == "someday" for row in rows)
    source = bench.csv(rows=rows)
    for outcome in (
        bench.train(source, "--rejected", "bad.csv"),
        bench.run("evaluate", "trained", source, "--rows", "all"),
    ):
        outcome.works(f"{count} reject")
    assert len(pl.read_csv(bench.folder / "bad.csv")) == count
    with pytest.warns(EventideWarning, match=str(count)):
        model = fitted(bench).fit(rows)
    assert len(model.rejected_) == count
    bad = [{**row, "created_at": "someday"} for row in rows]
    bench.train(bench.csv("bad-times.csv", rows=bad), out="never").fails("created_at")


def f33_resume_after_relabelling(bench: Bench):
    stopped(bench)
    events = sorted(set(bench.messages["event"]))
    swapped = dict(zip(events, reversed(events), strict=True))
    source = bench.jsonl(rows=[{**row, "event": swapped[row["event"]]} for row in bench.rows])
    bench.train(source, "--resume").fails("labels")


def f34_ids_of_other_platforms(bench: Bench):
    rows = [{k: v for k, v in row.items() if k != "created_at"} for row in bench.rows]
    rows = [
        {**row, "id": str(109_500_000_000_000_000 + n), "created_at": ""}
        for n, row in enumerate(rows)
    ]
    outcome = bench.run("check", bench.csv(rows=rows))
    assert "2010" not in outcome.said
    assert "2011" not in outcome.said


def f35_evaluate_on_training_rows(bench: Bench):
    rows = [row for row in bench.rows if row["split"] == "train"]
    source = bench.jsonl(rows=[{k: v for k, v in row.items() if k != "split"} for row in rows])
    bench.run("evaluate", bench.model, source).fails("trained on")
    bench.run("evaluate", bench.model, source, "--rows", "all").works("trained on")


def f36_training_rows_as_new(bench: Bench):
    rows = [row for row in bench.rows if row["split"] == "train"]
    shown = bench.run("evaluate", bench.model, bench.jsonl(rows=rows), "--rows", "all", "--as-new")
    shown.works("trained on")
    assert "every message is new" not in shown.said


def f37_view_of_a_missing_column(bench: Bench):
    bench.train(bench.jsonl(), "--view", "place=places").fails("places")
    model = fitted(bench, views={"a": "hashtags"}).fit(bench.messages)
    assert model.opinions(bench.messages)["neighbours_a"].sum() > 0


def f38_column_mapped_to_nothing(bench: Bench):
    bench.train(bench.csv(), "--column", "user=usr").fails("usr", "user")


def f39_sample_weight_counts(bench: Bench):
    model = eventide.load(bench.finished)
    frame = bench.messages
    truth, said = frame["event"].to_numpy(), model.predict(frame)
    weight = np.where(truth == said, 0.0, 1.0)
    weight[0] = 1.0
    expected = float(np.average(truth == said, weights=weight))
    assert model.score(frame, sample_weight=weight) == pytest.approx(expected)


def f40_no_validation_rows(bench: Bench):
    rows = [row for row in bench.rows if row["split"] == "train"]
    shown = bench.train(
        bench.jsonl(rows=rows), "--set", "training.epochs=3", "--set", "training.patience=1"
    )
    shown.works("3")
    assert "0.0000" not in shown.said


def f41_reference_that_is_not_there(bench: Bench):
    bench.run(
        "compare", bench.jsonl(), "--methods", "lr-tfidf", "--reference", "foo", "--seeds", 1
    ).fails("foo")


def f42_classes_swapped_in_the_manifest(bench: Bench):
    bench.manifest(lambda m: m["facts"]["classes"].reverse(), seal=False)
    bench.run("assign", bench.model, bench.jsonl()).fails()


def f43_model_of_a_later_version(bench: Bench):
    bench.manifest(lambda m: m["facts"].update(eventide="9.9.9"))
    bench.run("assign", bench.model, bench.jsonl()).fails("9.9.9")


def f44_manifest_without_a_setting(bench: Bench):
    def leave_out(manifest):
        del manifest["facts"]["settings"]["network"]["dropout"]

    bench.manifest(leave_out)
    with pytest.warns(EventideWarning, match=r"network.dropout = 0"):
        eventide.load(bench.model)


def f45_assign_onto_its_input(bench: Bench):
    source = bench.jsonl()
    before = source.read_bytes()
    for words in ((), ("--overwrite",)):
        bench.run("assign", bench.model, source, "--out", source, *words).fails("input")
    assert source.read_bytes() == before


def f46_train_onto_a_model(bench: Bench):
    before = (bench.model / "manifest.json").read_bytes()
    bench.train(bench.jsonl(), out=bench.model).fails("--overwrite")
    bench.train(bench.jsonl(), "--resume", out=bench.model).fails()
    assert (bench.model / "manifest.json").read_bytes() == before
    bench.train(bench.jsonl(), "--overwrite", out=bench.model).works()


def f47_two_trainings_one_out(bench: Bench):
    from eventide.outputs import reserved

    with reserved(bench.folder / "trained"):
        bench.train(bench.jsonl()).fails("another")
    bench.train(bench.jsonl()).works()


def f48_rerun_without_resume(bench: Bench):
    source = stopped(bench)
    kept = bench.folder / "trained.checkpoint"
    bench.train(source).fails("--resume")
    assert any(kept.rglob("manifest.json"))
    bench.train(source, "--resume", "--set", "training.epochs=6").works()


def f49_out_is_a_folder_with_other_things(bench: Bench):
    (bench.folder / "mine").mkdir()
    bench.write("mine/thesis.txt", "years of work")
    for words in ((), ("--overwrite",)):
        bench.train(bench.jsonl(), *words, out="mine").fails()
    assert (bench.folder / "mine" / "thesis.txt").read_text() == "years of work"


def fill(file) -> None:
    """Write until the disk is full."""
    handle = os.open(file, os.O_CREAT | os.O_WRONLY)
    try:
        while True:
            os.write(handle, b"x" * 4096)
    except OSError:
        return
    finally:
        os.close(handle)


def stopped(bench: Bench):
    """Leave the checkpoint of a training that was stopped after its second epoch."""
    source = bench.jsonl()
    model = eventide.EventClassifier(
        encoder="tfidf-svd:8", training__epochs=6, training__batch_size=64
    )

    def stop(row):
        if row["epoch"] == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model.fit(source, watch=stop, checkpoints=bench.folder / "trained.checkpoint")
    return source


CASES = {name: case for name, case in globals().items() if name[0] == "f" and name[1:3].isdigit()}
