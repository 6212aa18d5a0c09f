"""Bundles: whole or not at all, checked on reading."""

import json
import shutil

import numpy as np
import pytest

from eventide import storage
from eventide.errors import DamagedBundle
from eventide.storage import is_bundle, read_bundle, write_bundle

ARRAYS = {"weights": {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.array([2**40])}}


@pytest.fixture
def bundle(tmp_path):
    path = tmp_path / "bundle"
    write_bundle(path, "model", {"classes": ["x", "é"]}, ARRAYS, {"README.md": "card"})
    return path


def test_what_is_written_is_read_back_exactly(bundle):
    back = read_bundle(bundle, "model")
    assert back.facts == {"classes": ["x", "é"]}
    assert back.arrays["weights"]["b"][0] == 2**40
    np.testing.assert_array_equal(back.arrays["weights"]["a"], ARRAYS["weights"]["a"])
    assert (bundle / "README.md").read_text() == "card"


def test_a_new_bundle_replaces_the_old_one_and_leaves_no_litter(bundle):
    write_bundle(bundle, "model", {"n": 2}, {"other": ARRAYS["weights"]})
    assert read_bundle(bundle, "model").facts == {"n": 2}
    assert not (bundle / "weights.safetensors").exists()
    assert [p.name for p in bundle.parent.iterdir()] == ["bundle"]


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
    manifest = json.loads((bundle / "manifest.json").read_text())
    (bundle / "manifest.json").write_text(json.dumps(manifest | change))
    with pytest.raises(DamagedBundle, match=says):
        read_bundle(bundle, "model")


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe", b'{"format": 1}'])
def test_a_manifest_that_is_no_manifest_is_refused(bundle, content):
    (bundle / "manifest.json").write_bytes(content)
    with pytest.raises(DamagedBundle):
        read_bundle(bundle, "model")


def test_no_bundle_at_all(tmp_path):
    with pytest.raises(DamagedBundle, match="no model here"):
        read_bundle(tmp_path / "nothing", "model")
    assert not is_bundle(tmp_path / "nothing")


def test_a_directory_with_something_else_is_not_overwritten(tmp_path):
    (tmp_path / "thesis.tex").write_text("precious")
    with pytest.raises(DamagedBundle, match="something else"):
        write_bundle(tmp_path, "model", {}, ARRAYS)
    assert (tmp_path / "thesis.tex").read_text() == "precious"


def test_a_writer_that_dies_before_the_move_leaves_the_old_bundle(bundle, monkeypatch):
    monkeypatch.setattr(storage, "_swap_in", lambda *_: (_ for _ in ()).throw(OSError("died")))
    with pytest.raises(OSError, match="died"):
        write_bundle(bundle, "model", {"n": 2}, ARRAYS)
    assert read_bundle(bundle, "model").facts == {"classes": ["x", "é"]}
    assert [p.name for p in bundle.parent.iterdir()] == ["bundle"]


def test_a_writer_that_dies_between_the_renames_leaves_the_old_bundle(bundle):
    bundle.rename(storage._aside(bundle))
    assert is_bundle(bundle)
    assert read_bundle(bundle, "model").facts == {"classes": ["x", "é"]}


def test_a_writer_that_dies_before_tidying_leaves_the_new_bundle(bundle):
    shutil.copytree(bundle, storage._aside(bundle))
    write_bundle(bundle, "model", {"n": 3}, ARRAYS)
    assert read_bundle(bundle, "model").facts == {"n": 3}
    assert not storage._aside(bundle).exists()
