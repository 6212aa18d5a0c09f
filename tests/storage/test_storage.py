"""Bundles: whole or not at all, checked on reading, replaced under the hands of readers."""

import errno
import json
import os
import random
import signal
import stat
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import numpy as np
import pytest

from eventide import storage
from eventide.errors import CannotWrite, DamagedBundle, OutputError, UnreadableSource
from eventide.outputs import reserved
from eventide.storage import atomic as exchange
from eventide.storage import atomic_file, is_bundle, read_bundle, replacing, write_bundle
from processes import first_line

ARRAYS = {"weights": {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.array([2**40])}}


@pytest.fixture
def bundle(tmp_path):
    path = tmp_path / "bundle"
    write_bundle(path, "model", {"classes": ["x", "é"]}, ARRAYS, {"README.md": "card"})
    return path


@pytest.fixture(params=["exchange", "step aside"])
def way(request, monkeypatch):
    """Both ways to replace a folder: in one step, and in two where the system has no such step."""
    if request.param == "step aside":
        monkeypatch.setattr(exchange, "exchange", lambda one, other: False)
    return request.param


@contextmanager
def umask(mask):
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


def names(folder):
    return sorted(each.name for each in folder.iterdir())


def change_manifest(bundle, change, *, seal=False):
    """Change a manifest behind its checksum's back, or with a checksum that fits (``seal``)."""
    manifest = json.loads((bundle / "manifest.json").read_text())
    change(manifest)
    text = json.dumps(manifest)
    if seal:
        manifest.pop("sha256", None)
        text = storage.bundle.sealed(manifest, bundle)
        (bundle / "manifest.json").write_bytes(text)
    else:
        (bundle / "manifest.json").write_text(text)


def test_what_is_written_is_read_back_exactly(bundle):
    back = read_bundle(bundle, "model")
    assert back.facts == {"classes": ["x", "é"]}
    assert back.arrays["weights"]["b"][0] == 2**40
    np.testing.assert_array_equal(back.arrays["weights"]["a"], ARRAYS["weights"]["a"])
    assert back.arrays["weights"]["a"].flags.writeable
    assert back.others == {"README.md": b"card"}


def test_a_new_bundle_replaces_the_old_one_and_leaves_no_litter(bundle, way):
    write_bundle(bundle, "model", {"n": 2}, {"other": ARRAYS["weights"]})
    assert read_bundle(bundle, "model").facts == {"n": 2}
    assert not (bundle / "weights.safetensors").exists()
    assert names(bundle.parent) == ["bundle"]


def test_a_bundle_is_replaced_through_a_link_to_it(bundle, way):
    link = bundle.with_name("latest")
    link.symlink_to(bundle)
    write_bundle(link, "model", {"n": 2}, ARRAYS)
    assert link.is_symlink()
    assert read_bundle(bundle, "model").facts == read_bundle(link, "model").facts == {"n": 2}
    assert names(bundle.parent) == ["bundle", "latest"]


def test_a_bundle_is_read_from_inside_its_own_directory(bundle, monkeypatch):
    monkeypatch.chdir(bundle)
    assert read_bundle(storage.expanded("."), "model").facts["classes"] == ["x", "é"]


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o027, 0o002])
def test_permissions_follow_the_umask(tmp_path, mask):
    """Row 15: no 0600 weights beside a 0644 manifest, and no 0644 where the umask says 077."""
    with umask(mask):
        write_bundle(tmp_path / "bundle", "model", {}, ARRAYS, {"README.md": "card"})
        with atomic_file(tmp_path / "table.csv") as temporary:
            temporary.write_text("a,b")
    bits = {each: stat.S_IMODE(each.stat().st_mode) for each in (tmp_path / "bundle").iterdir()}
    assert set(bits.values()) == {0o666 & ~mask}
    assert stat.S_IMODE((tmp_path / "bundle").stat().st_mode) == 0o777 & ~mask
    assert stat.S_IMODE((tmp_path / "table.csv").stat().st_mode) == 0o666 & ~mask


def test_a_flipped_byte_is_found(bundle):
    file = bundle / "weights.safetensors"
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    with pytest.raises(DamagedBundle, match=r"weights.safetensors"):
        read_bundle(bundle, "model")


def test_a_missing_file_is_found(bundle):
    (bundle / "README.md").unlink()
    with pytest.raises(DamagedBundle, match=r"README.md"):
        read_bundle(bundle, "model")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"version": 99}, "format version 99"),
        ({"format": "eventide-checkpoint"}, "not an eventide model"),
        ({"format": "somebody-else"}, "not an eventide model"),
    ],
)
def test_foreign_and_newer_bundles_are_refused(bundle, change, says):
    change_manifest(bundle, lambda manifest: manifest.update(change))
    with pytest.raises(DamagedBundle, match=says):
        read_bundle(bundle, "model")


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"\xff\xfe", b'{"format": 1}', b"[" * 100_000]
)
def test_a_manifest_that_is_no_manifest_is_refused(bundle, content):
    (bundle / "manifest.json").write_bytes(content)
    with pytest.raises(DamagedBundle):
        read_bundle(bundle, "model")
    assert not is_bundle(bundle)


@pytest.mark.parametrize(
    "change",
    [
        lambda manifest: manifest["facts"].update(classes=["é", "x"]),
        lambda manifest: manifest["files"].pop("README.md"),
        lambda manifest: manifest.pop("sha256"),
        lambda manifest: manifest.update(more=1),
    ],
)
def test_row_15_the_manifest_has_a_checksum_of_its_own(bundle, change):
    change_manifest(bundle, change)
    with pytest.raises(DamagedBundle, match="was changed"):
        read_bundle(bundle, "model")


def test_a_manifest_laid_out_anew_is_the_same_manifest(bundle):
    change_manifest(bundle, lambda manifest: None)
    assert read_bundle(bundle, "model").facts == {"classes": ["x", "é"]}


@pytest.mark.parametrize("name", ["../outside", "/etc/hostname", "a/b", "..", "", "a\\b", "c:d"])
def test_row_15_a_manifest_cannot_reach_out_of_its_directory(bundle, name):
    (bundle.parent / "outside").write_text("card")
    entry = storage.bundle.fingerprint(bundle / "README.md")
    change_manifest(bundle, lambda manifest: manifest["files"].update({name: entry}), seal=True)
    with pytest.raises(DamagedBundle, match="list its files"):
        read_bundle(bundle, "model")


def test_row_15_a_link_out_of_the_directory_is_not_followed(bundle):
    outside = bundle.parent / "outside"
    outside.write_text("card")
    (bundle / "README.md").unlink()
    (bundle / "README.md").symlink_to(outside)
    with pytest.raises(DamagedBundle, match=r"README.md is a link"):
        read_bundle(bundle, "model")


def test_row_15_a_pipe_does_not_hang(bundle):
    (bundle / "README.md").unlink()
    os.mkfifo(bundle / "README.md")
    with pytest.raises(DamagedBundle, match="not a plain file"):
        read_bundle(bundle, "model")
    (bundle / "manifest.json").unlink()
    os.mkfifo(bundle / "manifest.json")
    with pytest.raises(DamagedBundle, match="not a plain file"):
        read_bundle(bundle, "model")


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
@pytest.mark.parametrize("what", ["bundle", "bundle/weights.safetensors", "bundle/manifest.json"])
def test_row_15_a_bundle_of_another_user_is_told(bundle, what, tmp_path):
    """Failure 22: it was a PermissionError."""
    for each in (tmp_path, *tmp_path.parents):
        if each.stat().st_mode & 0o001 == 0 and "pytest" in str(each):
            each.chmod(0o711)
    (bundle.parent / what).chmod(0)
    child = os.fork()
    if not child:  # the child never returns to pytest
        code = 1
        try:
            os.setuid(65534)
            read_bundle(bundle, "model")
        except UnreadableSource as error:
            code = 0 if "may not read" in str(error) else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_no_bundle_at_all(tmp_path):
    with pytest.raises(DamagedBundle, match="no model here"):
        read_bundle(tmp_path / "nothing", "model")
    assert not is_bundle(tmp_path / "nothing")


@pytest.mark.parametrize("name", ["thesis.tex", "manifest.json", ".git"])
def test_a_directory_with_something_else_is_not_overwritten(tmp_path, way, name):
    """Row 5: not even one whose manifest.json is a web page's."""
    (tmp_path / name).write_text('{"name": "precious"}')
    with pytest.raises(OutputError, match="something else"):
        write_bundle(tmp_path, "model", {}, ARRAYS)
    assert (tmp_path / name).read_text() == '{"name": "precious"}'
    assert names(tmp_path) == [name]


def test_row_5_a_file_beside_the_bundles_own_is_not_lost(bundle, way):
    (bundle / "notes.txt").write_text("precious")
    with pytest.raises(OutputError, match=r"notes.txt"):
        write_bundle(bundle, "model", {"n": 2}, ARRAYS)
    assert (bundle / "notes.txt").read_text() == "precious"
    assert read_bundle(bundle, "model").facts == {"classes": ["x", "é"]}


def test_a_writer_that_fails_before_the_move_leaves_the_old_bundle(bundle, monkeypatch):
    def fail(*_):
        raise OSError(errno.EIO, "died")

    monkeypatch.setattr(replacing, "_swap_in", fail)
    with pytest.raises(CannotWrite, match="died"):
        write_bundle(bundle, "model", {"n": 2}, ARRAYS)
    assert read_bundle(bundle, "model").facts == {"classes": ["x", "é"]}
    assert names(bundle.parent) == ["bundle"]


def test_a_writer_that_dies_between_the_renames_leaves_the_old_bundle(bundle):
    """Row 9: the reader finds it, and renames nothing."""
    bundle.rename(exchange.aside(bundle))
    before = names(bundle.parent)
    assert is_bundle(bundle)
    assert read_bundle(bundle, "model").facts == {"classes": ["x", "é"]}
    assert names(bundle.parent) == before
    with reserved(bundle):
        assert names(bundle.parent) == [".bundle.lock", "bundle"]
    assert names(bundle.parent) == ["bundle"]


def test_a_writer_tidies_what_a_dead_one_left(bundle, way):
    write_bundle(exchange.aside(bundle), "model", {"n": 1}, ARRAYS)
    write_bundle(bundle.with_name(".bundle.12345678.unfinished"), "model", {"n": 1}, ARRAYS)
    with reserved(bundle):
        write_bundle(bundle, "model", {"n": 3}, ARRAYS)
    assert read_bundle(bundle, "model").facts == {"n": 3}
    assert names(bundle.parent) == ["bundle"]


def test_row_9_reading_writes_nothing(bundle):
    write_bundle(exchange.aside(bundle), "model", {"n": 1}, ARRAYS)
    (bundle.parent / ".bundle.12345678.unfinished").mkdir()
    before = {each: each.stat().st_mtime_ns for each in bundle.parent.rglob("*")}
    assert read_bundle(bundle, "model").facts == {"classes": ["x", "é"]}
    assert {each: each.stat().st_mtime_ns for each in bundle.parent.rglob("*")} == before


def versioned(number):
    """A bundle whose files all carry one number, and different ones every other time."""
    content = {"a": np.full(50, number), "b": np.arange(number % 7)}
    arrays = {"weights": content} if number % 2 else {"weights": content, "more": content}
    return {"number": number}, arrays


def test_row_9_readers_and_a_writer_do_not_break_each_other(tmp_path, way):
    """One thread saves in a loop, several load in a loop: nobody fails, nothing is mixed."""
    path, problems, reads = tmp_path / "model", [], []
    write_bundle(path, "model", *versioned(0))
    done = threading.Event()

    def read():
        while not done.is_set():
            try:
                back = read_bundle(path, "model")
            except Exception as error:
                problems.append(error)
                return
            reads.append(back.facts["number"])
            found = {int(n) for each in back.arrays.values() for n in each["a"]}
            if found != {back.facts["number"]}:
                problems.append(f"{found} in {back.facts}")

    readers = [threading.Thread(target=read) for _ in range(3)]
    for each in readers:
        each.start()
    try:
        stop = time.monotonic() + 1.5
        number = 0
        while time.monotonic() < stop or number < 20:
            number += 1
            with reserved(path):
                write_bundle(path, "model", *versioned(number))
    finally:
        done.set()
        for each in readers:
            each.join()
    assert not problems
    assert len(set(reads)) > 5
    assert names(tmp_path) == ["model"]


WRITER = """
import sys, numpy as np
from pathlib import Path
from eventide.outputs import reserved
from eventide.storage import atomic as exchange, write_bundle
if sys.argv[2] == "step aside":
    exchange.exchange = lambda one, other: False
number = int(sys.argv[3])
while True:
    number += 1
    with reserved(Path(sys.argv[1])):
        write_bundle(Path(sys.argv[1]), "model", {"number": number}, {"weights": {"a": np.full(5000, number)}})
    print("written", flush=True)
"""


@pytest.mark.parametrize("way", ["exchange", "step aside"])
def test_row_9_a_writer_killed_at_any_moment_leaves_a_whole_bundle(tmp_path, way):
    """``kill -9`` at random moments: the old or the new bundle loads, and the next writer goes on."""
    path, last, chance = tmp_path / "model", 0, random.Random(0)
    write_bundle(path, "model", {"number": 0}, {"weights": {"a": np.full(5000, 0)}})
    for _ in range(6):
        process = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), way, str(last)], stdout=subprocess.PIPE
        )
        assert first_line(process) == b"written\n"
        time.sleep(chance.uniform(0.01, 0.15))
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        back = read_bundle(path, "model")
        assert set(back.arrays["weights"]["a"]) == {back.facts["number"]}
        assert back.facts["number"] >= last
        last = back.facts["number"]
    assert last >= 6
    with reserved(path):
        write_bundle(path, "model", {"number": -1}, ARRAYS)
    assert names(tmp_path) == ["model"]


@pytest.mark.parametrize("facts", [{"figure": float("nan")}, {"when": {1, 2}}])
def test_row_13_what_a_manifest_cannot_hold_is_told_before_writing(tmp_path, facts):
    with pytest.raises(CannotWrite, match="manifest cannot hold"):
        write_bundle(tmp_path / "new" / "model", "model", facts, ARRAYS)
    assert names(tmp_path) == []


@pytest.fixture
def tiny_disk(tmp_path):
    """A file system of 300 kB, where that may be mounted."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", str(place)],
        capture_output=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip("only root may mount a small file system")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_full_disk_is_told_and_nothing_half_written_stays(tiny_disk):
    """Failures 12 to 14: neither an empty folder nor a damaged model."""
    old = tiny_disk / "old"
    write_bundle(old, "model", {"n": 1}, ARRAYS)
    large = {"weights": {"a": np.zeros(500_000, dtype=np.uint8)}}
    for path in (old, tiny_disk / "new", tiny_disk / "run.checkpoint" / "phase-1"):
        with pytest.raises(CannotWrite, match="cannot write the model"):
            write_bundle(path, "model", {"n": 2}, large)
    assert names(tiny_disk) == ["old"]
    assert read_bundle(old, "model").facts == {"n": 1}
    with pytest.raises(CannotWrite, match="No space left"), atomic_file(tiny_disk / "a/f") as file:
        file.write_bytes(b"\0" * 500_000)
    assert names(tiny_disk) == ["old"]


def test_row_17_the_home_folder_is_meant_by_a_tilde(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    with atomic_file(storage.atomic.Path("~/table.csv")) as temporary:
        temporary.write_text("a")
    write_bundle(storage.atomic.Path("~/bundle"), "model", {"n": 1}, ARRAYS)
    assert read_bundle(storage.atomic.Path("~/bundle"), "model").facts == {"n": 1}
    assert names(tmp_path) == ["bundle", "table.csv"]


def test_a_device_is_not_replaced_by_a_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OutputError, match="plain file"), atomic_file(tmp_path / "pipe") as file:
        file.write_text("a")
