"""The hidden states that a saved model keeps: what new messages read, and nothing else."""

import json
import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from safetensors.numpy import load_file, save_file

import eventide
from eventide.errors import DamagedBundle
from eventide.model import EventClassifier
from eventide.storage.bundle import fingerprint, sealed

QUICK = {"training__epochs": 2, "training__batch_size": 64, "encoder": "tfidf-svd:16"}
OLD = Path(__file__).with_name("old_model_v1")
FILE = "states.safetensors"


@pytest.fixture(scope="module")
def new(small_sample):
    return small_sample.filter(pl.col("split") == "test").with_columns(id=pl.col("id") + "-new")


@pytest.fixture(scope="module", params=["ucl-ec", "kpgnn", "mvgan"])
def fitted(request, small_sample):
    return EventClassifier(method=request.param, **QUICK).fit(small_sample)


def rewrite(path, change):
    """Change the stored states, or take them out, as a foreign writer would who seals his work."""
    manifest = json.loads((path / "manifest.json").read_text())
    arrays = change(load_file(path / FILE))
    if arrays is None:
        manifest["files"].pop(FILE)
        (path / FILE).unlink()
    else:
        save_file(arrays, path / FILE)
        manifest["files"][FILE] = fingerprint(path / FILE)
    manifest.pop("sha256")
    (path / "manifest.json").write_bytes(sealed(manifest, path))


def test_a_model_without_stored_states_computes_them(fitted, new, tmp_path):
    path = fitted.save(tmp_path / "model")
    expected = eventide.load(path).predict_proba(new)
    rewrite(path, lambda arrays: None)
    np.testing.assert_array_equal(eventide.load(path).predict_proba(new), expected)
    np.testing.assert_array_equal(fitted.predict_proba(new), expected)


def test_a_model_of_the_first_format_computes_them_and_keeps_them_when_saved(tmp_path):
    expected = json.loads(OLD.with_name("old_model_v1_expected.json").read_text())
    messages = pl.DataFrame(expected["messages"])
    assert not (OLD / FILE).exists()
    model = eventide.load(OLD)
    assert (model.save(tmp_path / "again") / FILE).exists()
    for each in (model, eventide.load(tmp_path / "again")):
        found = each.predict_proba(messages, as_new=True)
        np.testing.assert_allclose(found, expected["probability"], atol=1e-5)


def first_renamed(arrays):
    name = min(arrays)
    return {**arrays, "layer9": arrays[name]} | {name: arrays[name]}


DAMAGES = {
    "no array": lambda arrays: {},
    "an array less": lambda arrays: {name: arrays[name] for name in sorted(arrays)[1:]},
    "an array more": first_renamed,
    "a row less": lambda arrays: {name: each[1:] for name, each in arrays.items()},
    "other numbers": lambda arrays: {name: each.astype("f8") for name, each in arrays.items()},
    "flat": lambda arrays: {name: each.ravel() for name, each in arrays.items()},
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_states_that_do_not_fit_the_memory_are_refused(fitted, tmp_path, damage):
    path = fitted.save(tmp_path / "model")
    rewrite(path, damage)
    with pytest.raises(DamagedBundle, match="stored states do not fit"):
        eventide.load(path)


def test_states_of_another_width_are_refused(small_sample, tmp_path):
    path = EventClassifier(**QUICK).fit(small_sample).save(tmp_path / "model")
    rewrite(path, lambda arrays: {name: each[:, :-1].copy() for name, each in arrays.items()})
    with pytest.raises(DamagedBundle, match="as wide as"):
        eventide.load(path)


@pytest.mark.parametrize("how", ["cut", "changed", "gone"])
def test_a_damaged_file_of_states_is_refused(fitted, tmp_path, how):
    path = fitted.save(tmp_path / "model")
    content = bytearray((path / FILE).read_bytes())
    if how == "gone":
        (path / FILE).unlink()
    else:
        content[-1] ^= 1
        (path / FILE).write_bytes(content if how == "changed" else content[:-4])
    with pytest.raises(DamagedBundle, match=FILE):
        eventide.load(path)


def test_methods_that_read_no_memory_store_no_states(small_sample, new, tmp_path):
    for method, more in (
        ("word2vec", {}),
        ("lr-encoder", {}),
        ("ucl", {"network__layers": [16]}),
    ):
        model = EventClassifier(method=method, **QUICK | more).fit(small_sample)
        path = model.save(tmp_path / method)
        assert not (path / FILE).exists()
        np.testing.assert_array_equal(
            eventide.load(path).predict_proba(new), model.predict_proba(new)
        )


def test_states_are_of_the_weights_they_are_saved_with(small_sample, new, tmp_path):
    """A model that was asked and then fitted again keeps nothing of its first weights."""
    model = EventClassifier(**QUICK).fit(small_sample)
    model.predict(new)
    model.set_params(seed=1).fit(small_sample)
    path = model.save(tmp_path / "model")
    rewritten = shutil.copytree(path, tmp_path / "without")
    rewrite(rewritten, lambda arrays: None)
    np.testing.assert_array_equal(
        eventide.load(path).predict_proba(new), eventide.load(rewritten).predict_proba(new)
    )
