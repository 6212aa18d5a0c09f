"""Row 8: one name, one model: what `train` calls ucl-ec is what `compare` calls ucl-ec."""

import inspect

import pytest

from eventide.experiments import choose
from eventide.experiments.variants import grid, named_rows
from eventide.methods import DEFAULT_METHOD, METHODS
from eventide.model import EventClassifier, load_model
from eventide.settings import PRESETS, preset, resolve

OURS = ("ucl", "ucl-ec", "ucl+cb", "ucl-ec+cb", "ucl-sharp")


@pytest.mark.parametrize("preset_name", PRESETS)
@pytest.mark.parametrize("name", METHODS.names())
def test_a_name_means_the_same_in_train_and_compare(name, preset_name):
    """Row 8: `train --method NAME` and `compare --methods NAME` resolve to the same settings."""
    (variant,) = choose(name).variants
    trained = EventClassifier(method=name, preset=preset_name).settings()
    assert variant.method == name
    assert variant.settings(preset_name, {}) == trained


@pytest.mark.parametrize("preset_name", PRESETS)
def test_class_weights_are_in_the_name_alone(preset_name):
    """Row 8: ucl and ucl-ec are the paper's; +cb says that rare classes count more."""
    balanced = {
        entry.name
        for entry in METHODS
        if resolve(preset(preset_name), entry.load().defaults).loss.class_balanced
    }
    assert balanced == {"ucl+cb", "ucl-ec+cb", "ce+cb", "etgnn+cb"}
    for each in (*named_rows(), *grid()):
        weighted = each.settings(preset_name, {}).loss.class_balanced
        assert weighted == each.name.endswith(("+cb", "/cb"))


def test_the_default_is_one_everywhere():
    """Row 8: `train`, EventClassifier and the list of methods agree on the default."""
    from eventide.cli.train import train

    assert DEFAULT_METHOD == "ucl-sharp"
    assert EventClassifier().method == DEFAULT_METHOD
    assert inspect.signature(train).parameters["method"].default == DEFAULT_METHOD
    assert "(the default)" in METHODS.entry(DEFAULT_METHOD).summary
    assert {entry.name for entry in METHODS if entry.group == "ours"} == set(OURS)


def test_a_model_saved_under_the_old_name_predicts_the_same(small_sample, tmp_path):
    """Row 8: `ucl-ec` with class weights, as older versions saved it, loads as what it is."""
    model = EventClassifier(
        method="ucl-ec+cb", encoder="tfidf-svd:8", training__epochs=1, network__head_hidden=8
    ).fit(small_sample)
    before = model.predict_proba(small_sample)
    model.method = "ucl-ec"  # the name that the preset's +CB hid behind
    loaded = load_model(model.save(tmp_path / "model"))
    assert loaded.settings_.loss.class_balanced
    assert (loaded.predict_proba(small_sample) == before).all()
    assert loaded.method == "ucl-ec+cb"
    assert loaded.settings() == loaded.settings_
