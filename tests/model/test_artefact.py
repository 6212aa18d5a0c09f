"""Models on disk: the same answers after loading, nothing readable inside, forgetting works."""

import json
import os
import shutil
import stat
import subprocess
import threading
import warnings
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import eventide
from eventide.errors import (
    BadSetting,
    CannotWrite,
    DamagedBundle,
    EventideWarning,
    InputError,
    NotAllowed,
    OutputError,
    UnreadableSource,
)
from eventide.model import EventClassifier
from eventide.model.explain import explain
from eventide.model.forget import forget, forget_messages
from eventide.outputs import reserved
from eventide.storage.bundle import sealed

QUICK = {"training__epochs": 3, "training__batch_size": 64, "encoder": "tfidf-svd:32"}


@pytest.fixture(scope="module")
def split_sample(small_sample):
    """The last tenth is kept from the model, so that there are new messages to ask about."""
    known = pl.int_range(pl.len()) % 10 != 9
    return small_sample.filter(known), small_sample.filter(~known)


@pytest.fixture(scope="module", params=["ucl", "ucl-ec", "ce"])
def model(request, split_sample):
    return EventClassifier(method=request.param, **QUICK).fit(split_sample[0])


def test_predictions_after_loading_are_bit_identical(model, split_sample, tmp_path):
    model.save(tmp_path / "model")
    loaded = eventide.load(tmp_path / "model")
    for frame in split_sample:
        np.testing.assert_array_equal(model.predict_proba(frame), loaded.predict_proba(frame))
        assert model.opinions(frame).equals(loaded.opinions(frame))
    assert loaded.get_params() == model.get_params()
    assert loaded.history_ == model.history_


def test_nothing_readable_is_stored_unless_asked(model, split_sample, tmp_path):
    known = split_sample[0]
    model.save(tmp_path / "private")
    content = b"".join(file.read_bytes() for file in (tmp_path / "private").iterdir())
    for column in ("id", "text"):
        assert not any(value.encode() in content for value in known[column])
    # single words are too short to look for; long author names are not
    authors = {name for name in known["user"].drop_nulls() if len(name) > 7}
    assert authors
    assert not any(name.encode() in content for name in authors)
    manifest = json.loads((tmp_path / "private" / "manifest.json").read_text())
    assert manifest["facts"]["keeps_text"] is False
    assert "salted hashes" in (tmp_path / "private" / "README.md").read_text()

    model.save(tmp_path / "open", keep_text=True)
    content = (tmp_path / "open" / "messages.jsonl").read_text()
    assert known["text"][0] in [json.loads(line)["text"] for line in content.splitlines()]
    assert "in clear" in (tmp_path / "open" / "README.md").read_text()


def test_a_model_saved_without_text_cannot_keep_it_later(model, tmp_path):
    model.save(tmp_path / "model")
    with pytest.raises(InputError, match="without text"):
        eventide.load(tmp_path / "model").save(tmp_path / "again", keep_text=True)


def test_a_damaged_model_is_refused(model, tmp_path):
    model.save(tmp_path / "model")
    file = tmp_path / "model" / "weights.safetensors"
    file.write_bytes(file.read_bytes()[:-8])
    with pytest.raises(DamagedBundle, match="weights"):
        eventide.load(tmp_path / "model")


def test_forgetting_an_author_and_an_id(model, split_sample, tmp_path):
    known, new = split_sample
    author = known["user"].drop_nulls().mode()[0]
    theirs = known.filter(pl.col("user") == author)
    other = known.filter(pl.col("user") != author)["id"][0]
    model.save(tmp_path / "model", keep_text=True)
    assert forget(tmp_path / "model", ids=[other], users=[author]) == len(theirs) + 1
    after = eventide.load(tmp_path / "model")
    assert len(after.memory_) == len(known) - len(theirs) - 1
    assert (after.remembered_rows(after.intake(theirs).messages) < 0).all()
    clear = (tmp_path / "model" / "messages.jsonl").read_text()
    assert not any(json.dumps(identity) in clear for identity in [*theirs["id"], other])
    assert np.isfinite(after.predict_proba(new)).all()
    with pytest.raises(InputError, match="no such message"):
        forget(tmp_path / "model", ids=[other])


def test_an_explanation_adds_up(model, split_sample, tmp_path):
    known, new = split_sample
    for frame in (known, new):
        wanted = frame["id"][2]
        found = explain(model, frame, wanted, strongest=10_000)
        opinion = model.opinions(frame).filter(pl.col("id") == wanted).row(0, named=True)
        assert found.event == opinion["event"]
        for view in found.views:
            weights = [each.weight for each in view.strongest]
            assert sum(weights) + view.own_weight == pytest.approx(1, abs=1e-9)
            assert weights == sorted(weights, reverse=True)
            assert view.event == opinion[f"event_{view.view}"]
            assert len(weights) == view.neighbours == opinion[f"neighbours_{view.view}"]
            assert view.uncertainty == pytest.approx(opinion[f"uncertainty_{view.view}"], abs=1e-6)


def test_the_most_doubtful_message_is_explained_by_default(model, split_sample):
    new = split_sample[1]
    opinions = model.opinions(new)
    worst = opinions.sort("doubt", descending=True)["id"][0]
    assert explain(model, new).id == worst


OLD = Path(__file__).with_name("old_model_v1")


@pytest.fixture(scope="module")
def one(split_sample):
    """One model that several tests share; it is only read."""
    return EventClassifier(method="ucl-ec", **QUICK).fit(split_sample[0])


@pytest.fixture
def stored(one, tmp_path):
    return one.save(tmp_path / "model", keep_text=True)


def change_manifest(path, change, *, seal=True):
    """Change a model's manifest; sealed, its checksum fits again, as a foreign writer's would."""
    manifest = json.loads((path / "manifest.json").read_text())
    change(manifest)
    if seal and manifest["version"] > 1:
        manifest.pop("sha256")
        (path / "manifest.json").write_bytes(sealed(manifest, path))
    else:
        (path / "manifest.json").write_text(json.dumps(manifest))


def names(folder):
    return sorted(each.name for each in folder.iterdir())


def test_a_model_of_the_first_format_still_loads():
    """Saved at commit 3f8a691: it answers as it did then, and says so to nobody."""
    expected = json.loads(OLD.with_name("old_model_v1_expected.json").read_text())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = eventide.load(OLD)
    new = pl.DataFrame(expected["messages"])
    found = model.predict_proba(new)
    np.testing.assert_allclose(found, expected["probability"], atol=1e-5)
    assert model.classes_.tolist() == expected["classes"]
    # its settings have class weights, which the name says today
    assert model.get_params() == expected["params"] | {"method": "ucl-ec+cb"}
    assert expected["remembered"][0] in model.remembered_["id"].to_list()


def test_a_model_of_the_first_format_is_forgotten_from_and_written_anew(tmp_path):
    shutil.copytree(OLD, tmp_path / "model")
    expected = json.loads(OLD.with_name("old_model_v1_expected.json").read_text())
    assert forget(tmp_path / "model", ids=expected["remembered"][:1]) == 1
    assert json.loads((tmp_path / "model" / "manifest.json").read_text())["version"] == 2
    assert len(eventide.load(tmp_path / "model").memory_) == 47


def test_row_15_permissions_follow_the_umask(one, tmp_path):
    before = os.umask(0o027)
    try:
        path = one.save(tmp_path / "model", keep_text=True)
    finally:
        os.umask(before)
    assert {stat.S_IMODE(each.stat().st_mode) for each in path.iterdir()} == {0o640}
    assert stat.S_IMODE(path.stat().st_mode) == 0o750


MANIFESTS = {
    "19 no classes": (lambda m: m["facts"].pop("classes"), "does not say.*classes"),
    "20 one class more": (lambda m: m["facts"]["classes"].append("x"), "6 classes are named, 5"),
    "20 one class less": (lambda m: m["facts"]["classes"].pop(), "4 classes are named, 5"),
    "21 no weights": (lambda m: m["files"].pop("weights.safetensors"), "no file of weights"),
    "21 no memory": (lambda m: m["files"].pop("memory.safetensors"), "no file of memory"),
    "18 later setting": (lambda m: m["facts"]["settings"]["loss"].update(new=1), "loss.new"),
    "18 later group": (lambda m: m["facts"]["settings"].update(new={"a": 1}), "new.a"),
    "18 odd group": (lambda m: m["facts"]["settings"].update(loss=3), "does not know: loss"),
    "bad setting": (lambda m: m["facts"]["settings"]["loss"].update(margin="x"), "loss.margin"),
    "42 swapped": (lambda m: m["facts"]["classes"].reverse(), "do not fit together"),
    "43 later": (lambda m: m["facts"].update(eventide="9.9.9"), "later version.*9.9.9.*this is"),
    "other count": (lambda m: m["facts"].update(messages=1), "1 messages are named"),
    "other view": (lambda m: m["facts"].update(views={"x": ["y"]}), "do not fit together"),
    "no text": (lambda m: m["files"].pop("messages.jsonl"), "do not fit together"),
    "odd encoder": (lambda m: m["facts"]["parameters"].update(encoder=3), "no encoder"),
    "odd method": (lambda m: m["facts"]["parameters"].update(method="ukl"), "no method"),
    "odd salt": (lambda m: m["facts"].update(salt="zz"), "do not fit together"),
}


@pytest.mark.parametrize("case", MANIFESTS)
def test_row_15_a_manifest_that_does_not_fit_is_refused(stored, case):
    """Failures 18 to 21, 42 and 43, by a writer who knows how to make the checksum fit."""
    change, says = MANIFESTS[case]
    change_manifest(stored, change)
    with pytest.raises(InputError, match=says):
        eventide.load(stored)


@pytest.mark.parametrize("case", MANIFESTS)
def test_row_15_a_changed_manifest_is_found_by_its_checksum(stored, case):
    change_manifest(stored, MANIFESTS[case][0], seal=False)
    with pytest.raises(DamagedBundle, match="was changed"):
        eventide.load(stored)


@pytest.mark.parametrize("case", ["19 no classes", "20 one class more", "42 swapped", "43 later"])
def test_row_15_the_first_format_has_no_checksum_and_is_checked_all_the_same(tmp_path, case):
    shutil.copytree(OLD, tmp_path / "model")
    change_manifest(tmp_path / "model", MANIFESTS[case][0])
    with pytest.raises(DamagedBundle):
        eventide.load(tmp_path / "model")


def test_row_15_a_setting_that_is_filled_in_is_said(stored):
    """Failure 44."""
    change_manifest(stored, lambda m: m["facts"]["settings"]["network"].pop("logit_bound"))
    with pytest.warns(EventideWarning, match=r"network\.logit_bound = 10\.0"):
        eventide.load(stored)


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        ({"encoder": "transformers:someone/model"}, "the checkpoint someone/model"),
        ({"encoder": "tfidf-svd:32+spacy:en_core_web_md"}, "the spaCy pipeline en_core_web_md"),
        ({"encoder": "word2vec:/etc/passwd"}, "the file /etc/passwd"),
        ({"entities": "spacy:en_core_web_sm"}, "the spaCy pipeline en_core_web_sm"),
    ],
)
def test_row_15_a_model_decides_nothing_beyond_its_directory(stored, change, wanted, monkeypatch):
    """No download, no import, no other file without the user's word."""
    change_manifest(stored, lambda m: m["facts"]["parameters"].update(change))
    monkeypatch.setattr("eventide.model.artefact.make_encoder", lambda name: pytest.fail("made"))
    with pytest.raises(NotAllowed, match=f"{wanted}(.|\n)*--allow-download"):
        eventide.load(stored)


def test_row_15_what_the_user_allows_is_tried(stored):
    change_manifest(
        stored, lambda m: m["facts"]["parameters"].update(encoder="word2vec:/no/such/file")
    )
    with pytest.raises(Exception, match="word vectors is missing"):
        eventide.load(stored, allow_download=True)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_row_15_a_model_of_another_user_is_told(stored):
    """Failure 22."""
    eventide.load(stored)  # nothing is left to import as another user
    for each in list(stored.parents)[:3]:
        each.chmod(0o711)
    (stored / "weights.safetensors").chmod(0o600)
    os.setresuid(65534, 65534, 0)
    try:
        with pytest.raises(UnreadableSource, match="you may not read it"):
            eventide.load(stored)
    finally:
        os.setresuid(0, 0, 0)


def test_row_5_a_model_is_not_replaced_silently(stored, one):
    before = (stored / "manifest.json").read_bytes()
    with pytest.raises(OutputError, match="there is a model already"):
        one.save(stored)
    assert (stored / "manifest.json").read_bytes() == before
    one.save(stored, overwrite=True)
    assert (stored / "manifest.json").read_bytes() != before
    with reserved(stored), pytest.raises(OutputError, match="another process"):
        one.save(stored, overwrite=True)
    (stored.parent / "thesis").mkdir()
    (stored.parent / "thesis" / "chapter.tex").write_text("precious")
    with pytest.raises(OutputError, match=r"chapter\.tex"):
        one.save(stored.parent / "thesis", overwrite=True)


def test_row_9_loading_while_saving(one, split_sample, tmp_path):
    """Several threads load and ask while one saves: no side fails, every answer is right."""
    path = one.save(tmp_path / "model")
    new = split_sample[1][:3]
    expected = one.predict_proba(new)
    done, problems, loads = threading.Event(), [], []

    def load():
        while not done.is_set():
            try:
                np.testing.assert_array_equal(eventide.load(path).predict_proba(new), expected)
                loads.append(1)
            except BaseException as error:
                problems.append(error)
                return

    threads = [threading.Thread(target=load) for _ in range(2)]
    for each in threads:
        each.start()
    for turn in range(12):
        one.save(path, keep_text=bool(turn % 2), overwrite=True)
    done.set()
    for each in threads:
        each.join()
    assert not problems
    assert loads
    assert names(tmp_path) == ["model"]


def test_row_13_what_cannot_be_saved_is_said_before_training(split_sample):
    """Failure 26: it was a TypeError in save, after fit."""
    odd = EventClassifier(**QUICK | {"training__epochs": 1}, text__checkpoint=object())
    with pytest.raises(BadSetting, match="text__checkpoint cannot be a object"):
        odd.fit(split_sample[0], watch=lambda row: pytest.fail("trained"))


def test_row_13_numpy_numbers_and_sets_are_plain_values(split_sample, tmp_path):
    model = EventClassifier(
        **QUICK | {"training__epochs": np.int64(2), "training__learning_rate": np.float32(0.25)},
        views={"tags": {"urls", "hashtags"}, "user": ("mentions",)},
        network__layers=(np.int64(8), 8),
    )
    loaded = eventide.load(model.fit(split_sample[0]).save(tmp_path / "model"))
    assert loaded.get_params()["training__epochs"] == 2
    assert loaded.views == {"tags": ["hashtags", "urls"], "user": ["mentions"]}
    assert loaded.settings_ == model.settings_
    np.testing.assert_array_equal(
        loaded.predict_proba(split_sample[1]), model.predict_proba(split_sample[1])
    )


def test_row_13_figures_that_are_no_numbers_are_told(one, tmp_path, monkeypatch):
    monkeypatch.setattr(one, "history_", [{**one.history_[0], "total": float("nan")}] * 3)
    with pytest.raises(CannotWrite, match="manifest cannot hold"):
        one.save(tmp_path / "model")
    assert names(tmp_path) == []


def test_row_17_a_tilde_is_the_home_folder(one, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    one.save("~/model")
    assert names(tmp_path) == ["model"]
    assert len(eventide.load("~/model").memory_) == len(one.memory_)


def test_row_17_the_card_does_not_promise_what_the_salt_cannot_keep(one, tmp_path):
    card = (one.save(tmp_path / "model") / "README.md").read_text()
    assert "pseudonymous, not anonymous" in card
    assert "--salt-file" in card


def test_row_17_with_a_salt_file_the_salt_is_kept_apart(split_sample, tmp_path, monkeypatch):
    known, new = split_sample
    file = tmp_path / "keys" / "salt"
    model = EventClassifier(method="ucl-ec", **QUICK).fit(known, salt_file=file)
    path = model.save(tmp_path / "model")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    manifest = (path / "manifest.json").read_text()
    assert file.read_text().strip() not in manifest
    assert json.loads(manifest)["facts"]["salt"] is None
    assert "The salt is kept apart" in (path / "README.md").read_text()

    with pytest.raises(BadSetting, match="--salt-file"):
        eventide.load(path)
    (tmp_path / "other").write_text("00" * 32)
    with pytest.raises(InputError, match="not the one"):
        eventide.load(path, salt_file=tmp_path / "other")
    (tmp_path / "odd").write_text("hello")
    with pytest.raises(InputError, match="not a salt file"):
        eventide.load(path, salt_file=tmp_path / "odd")
    with pytest.raises(InputError, match="cannot be read"):
        eventide.load(path, salt_file=tmp_path / "none")

    loaded = eventide.load(path, salt_file=file)
    np.testing.assert_array_equal(loaded.predict_proba(new), model.predict_proba(new))
    monkeypatch.setenv("EVENTIDE_SALT_FILE", str(file))
    author = known["user"].drop_nulls().mode()[0]
    assert forget(path, users=[author]) == (known["user"] == author).sum()
    assert json.loads((path / "manifest.json").read_text())["facts"]["salt"] is None

    again = EventClassifier(method="ucl-ec", **QUICK).fit(known, salt_file=file)
    np.testing.assert_array_equal(again.memory_.ids, model.memory_.ids)
    other = EventClassifier(method="ucl-ec", **QUICK).fit(known)
    np.testing.assert_allclose(other.predict_proba(new), model.predict_proba(new), atol=1e-6)


def test_row_24_an_author_is_forgotten_with_and_without_the_sign(small_sample, tmp_path):
    frame = small_sample.with_columns(
        user=pl.when(pl.int_range(pl.len()) % 2 == 0).then(pl.lit("Ann")).otherwise(pl.lit("@bob"))
    )
    frame = frame.with_columns(user=pl.when(pl.int_range(pl.len()) < 9).then("user"))
    model = EventClassifier(method="lr-tfidf", encoder="tfidf-svd:16").fit(frame)
    path = model.save(tmp_path / "model")
    for name in ("ann", "@", ""):
        with pytest.raises(InputError, match="no such message"):
            forget(path, users=[name])
    assert forget(path, users=["@Ann"]) == 5
    assert forget(path, users=["bob"]) == 4
    assert len(eventide.load(path).memory_) == len(frame) - 9


def test_row_24_forgetting_in_memory(split_sample):
    known, new = split_sample
    model = EventClassifier(method="ucl-ec", **QUICK).fit(known)
    author = known["user"].drop_nulls().mode()[0]
    count = forget_messages(model, users=[f"@{author}"])
    assert count == (known["user"] == author).sum()
    assert len(model.memory_) == len(model.labels_) == len(model.remembered_) == len(known) - count
    assert np.isfinite(model.predict_proba(new)).all()
    with pytest.raises(InputError, match="every message"):
        forget_messages(model, ids=known["id"].to_list())
    with pytest.raises(InputError, match="nothing to forget"):
        forget_messages(model)


def test_row_24_forgetting_waits_for_nobody(stored):
    with reserved(stored), pytest.raises(OutputError, match="another process"):
        forget(stored, users=["someone"])


def test_a_full_disk_leaves_the_old_model_whole(one, split_sample, tmp_path):
    """Failure 14: forgetting on a full disk, and saving onto one."""
    size = sum(each.stat().st_size for each in one.save(tmp_path / "probe").iterdir())
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={(2 << 20) + size}", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("only root may mount a small file system")
    try:
        path = one.save(disk / "model")
        before = {each.name: each.read_bytes() for each in path.iterdir()}
        room = shutil.disk_usage(disk).free
        (disk / "filler").write_bytes(b"\0" * (room - 20_000))
        with pytest.raises(CannotWrite, match="cannot write the model"):
            forget(path, ids=split_sample[0]["id"][:1].to_list())
        with pytest.raises(OutputError, match="full"):
            one.save(disk / "other" / "model")
        assert names(disk) == ["filler", "model"]
        assert {each.name: each.read_bytes() for each in path.iterdir()} == before
        assert len(eventide.load(path).memory_) == len(one.memory_)
    finally:
        subprocess.run(["umount", str(disk)], check=True)
