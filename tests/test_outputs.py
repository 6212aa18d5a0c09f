"""Outputs: checked before any work, never an input, one writer at a time, no litter."""

import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from eventide.errors import CannotWrite, EventideError, InputError, OutputError
from eventide.outputs import check_file, check_folder, check_room, reserved, writing
from eventide.storage import write_bundle
from processes import first_line

ARRAYS = {"weights": {"a": np.zeros(2)}}
root_only = pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")


def names(folder):
    return sorted(each.name for each in folder.iterdir())


@pytest.fixture
def model(tmp_path):
    write_bundle(tmp_path / "model", "model", {}, ARRAYS)
    return tmp_path / "model"


def as_nobody(act):
    """Run ``act`` as a user who may do nothing here; return the name of the error it ends in."""
    receive, send = os.pipe()
    child = os.fork()
    if not child:  # the child never returns to pytest
        try:
            os.setuid(65534)
            act()
            os.write(send, b"nothing")
        except BaseException as error:
            os.write(send, type(error).__name__.encode())
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    os.close(send)
    with os.fdopen(receive) as stream:
        return stream.read()


@pytest.mark.parametrize("out", [".", "/", "..", "sub/..", ""])
def test_row_5_a_model_needs_a_folder_of_its_own(out, tmp_path, monkeypatch):
    """Failures 9 and 10."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(OutputError, match="folder of its own"):
        check_folder(out)


def test_row_5_a_file_is_no_folder(tmp_path):
    """Failure 8."""
    (tmp_path / "file").write_text("precious")
    with pytest.raises(OutputError, match="a file, where a folder"):
        check_folder(tmp_path / "file", overwrite=True)
    with pytest.raises(OutputError):
        check_folder(tmp_path / "file" / "below", overwrite=True)


def test_row_5_a_model_is_replaced_only_when_asked(model):
    """Failure 46."""
    with pytest.raises(OutputError, match=r"there is a model already(.|\n)*--overwrite"):
        check_folder(model)
    assert check_folder(model, overwrite=True) == model


@pytest.mark.parametrize("name", ["thesis.tex", "manifest.json", ".git"])
def test_row_5_a_folder_with_other_things_is_never_replaced(tmp_path, name):
    """Failure 49, and a manifest.json that is not ours."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / name).write_text("{}")
    with pytest.raises(OutputError, match="something else"):
        check_folder(tmp_path / "folder", overwrite=True)


def test_row_5_a_model_with_other_things_beside_is_not_replaced(model):
    (model / "opinions.csv").write_text("precious")
    with pytest.raises(OutputError, match=r"opinions\.csv"):
        check_folder(model, overwrite=True)


def test_an_empty_or_new_folder_will_do(tmp_path):
    (tmp_path / "empty").mkdir()
    assert check_folder(tmp_path / "empty") == tmp_path / "empty"
    assert check_folder(tmp_path / "new" / "model") == tmp_path / "new" / "model"
    assert names(tmp_path) == ["empty"]


def test_row_5_an_output_is_never_an_input(tmp_path, monkeypatch):
    """Failure 45, by whatever name the input goes."""
    source = tmp_path / "messages.csv"
    source.write_text("id,text")
    (tmp_path / "link.csv").symlink_to(source)
    os.link(source, tmp_path / "hard.csv")
    monkeypatch.chdir(tmp_path)
    for out in (source, "link.csv", "hard.csv", "./messages.csv", "sub/../messages.csv"):
        with pytest.raises(OutputError, match="would be destroyed"):
            check_file(out, overwrite=True, inputs=[str(source)])
        with pytest.raises(OutputError):
            check_folder(out, overwrite=True, inputs=[str(source)])
    assert check_file("other.csv", inputs=[source, "a-dataset", "-"]).name == "other.csv"


def test_row_5_a_model_that_holds_the_input_is_not_replaced(tmp_path):
    write_bundle(tmp_path / "model", "model", {}, ARRAYS, {"messages.jsonl": "{}"})
    with pytest.raises(OutputError, match="would be destroyed"):
        check_folder(
            tmp_path / "model", overwrite=True, inputs=[tmp_path / "model" / "messages.jsonl"]
        )


def test_row_5_nothing_is_written_into_a_model(model):
    with pytest.raises(OutputError, match="inside a model"):
        check_file(model / "opinions.csv")
    with pytest.raises(OutputError, match="inside a model"):
        check_folder(model / "better" / "model")


def test_a_dataset_may_give_its_model_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert check_folder("crisislex-t7", inputs=["crisislex-t7"]).name == "crisislex-t7"


def test_row_5_files_of_the_wrong_kind(tmp_path):
    """Failure 16, and devices: a file moved onto one replaces it."""
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "there.csv").write_text("precious")
    for path, says in [
        (tmp_path, "a folder"),
        ("/", "a folder"),
        (tmp_path / "pipe.csv", "plain file"),
        (tmp_path / "table.doc", r"cannot write \.doc"),
        (tmp_path / "table", "without a suffix"),
        (tmp_path / "there.csv", r"already(.|\n)*--overwrite"),
    ]:
        with pytest.raises(OutputError, match=says):
            check_file(path, suffixes=(".csv", ".jsonl"))
    assert check_file(tmp_path / "there.csv", overwrite=True).name == "there.csv"


def test_row_17_a_tilde_is_the_home_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert check_file("~/a.csv") == tmp_path / "a.csv"
    assert check_folder("~/model") == tmp_path / "model"
    with pytest.raises(InputError, match="home folder"):
        check_file("~nobody-has-this-name/a.csv")


@root_only
def test_row_5_a_place_without_permission_is_told_first(tmp_path, model):
    """Failures 11, 15 and 17."""
    for each in (tmp_path, tmp_path.parent, tmp_path.parent.parent):
        each.chmod(0o711)
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    assert as_nobody(lambda: check_file(tmp_path / "a.csv")) == "OutputError"
    assert as_nobody(lambda: check_folder(tmp_path / "new" / "model")) == "OutputError"
    assert as_nobody(lambda: check_folder(closed / "model")) == "OutputError"
    assert as_nobody(lambda: check_file(closed / "a.csv")) == "OutputError"
    assert as_nobody(lambda: reserved(model).__enter__()) == "OutputError"
    assert names(tmp_path) == ["closed", "model"]


@root_only
def test_row_5_a_read_only_file_system_is_told_first(tmp_path):
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "ro", "tmpfs", str(place)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting is not allowed here")
    try:
        for check in (check_file, check_folder):
            with pytest.raises(OutputError, match="may not write"):
                check(place / "a")
        with pytest.raises(EventideError, match="Read-only"), reserved(place / "a"):
            pass
    finally:
        subprocess.run(["umount", str(place)], check=True)


def test_row_5_room_is_asked_for_first(tmp_path):
    with pytest.raises(OutputError, match="full"):
        check_room(tmp_path / "model", 1 << 60)
    check_room(tmp_path / "new" / "model", 1)


def test_row_5_one_writer_at_a_time_and_no_litter(tmp_path):
    """Failure 47."""
    path = tmp_path / "new" / "model"
    with reserved(path):
        assert names(path.parent) == [".model.lock"]
        with pytest.raises(OutputError, match="another process is writing"), reserved(path):
            pytest.fail("two writers")
        with reserved(path.with_name("other")):
            pass
    assert names(tmp_path) == []
    with reserved(path):
        pass


def test_the_same_folder_by_another_name_is_the_same_folder(model):
    (model.parent / "link").symlink_to(model)
    with reserved(model), pytest.raises(OutputError), reserved(model.parent / "link"):
        pytest.fail("two writers")


HOLDER = """
import sys, time
from eventide.outputs import reserved
with reserved(sys.argv[1]):
    print("held", flush=True)
    time.sleep(60)
"""


def test_row_5_a_killed_writer_holds_nothing(tmp_path):
    path = tmp_path / "model"
    process = subprocess.Popen([sys.executable, "-c", HOLDER, str(path)], stdout=subprocess.PIPE)
    assert first_line(process) == b"held\n"
    with pytest.raises(OutputError), reserved(path):
        pytest.fail("two writers")
    process.kill()
    process.wait()
    process.stdout.close()
    with reserved(path):
        pass
    assert names(tmp_path) == []


def test_many_writers_never_hold_one_output_together(tmp_path):
    """The lock's file is removed each time, which must not let two in."""
    path, inside, together = tmp_path / "model", [], []
    stop = time.monotonic() + 0.5

    def work():
        while time.monotonic() < stop:
            try:
                with reserved(path):
                    inside.append(1)
                    together.append(len(inside))
                    inside.pop()
            except OutputError:
                time.sleep(0.0005)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert set(together) == {1}


def test_failures_to_write_are_typed(tmp_path):
    with pytest.raises(CannotWrite, match="No space"), writing(tmp_path, "the table"):
        raise OSError(28, "No space left on device")
    with pytest.raises(OutputError, match="Is a directory"), writing(tmp_path, "the table"):
        tmp_path.write_text("")
    with pytest.raises(ZeroDivisionError), writing(tmp_path, "the table"):
        raise ZeroDivisionError
