"""Row 27: other packages add methods, encoders, datasets, claims and figures by entry points."""

import sys

import pytest

from eventide.data.datasets import DATASETS
from eventide.data.datasets.build import listing
from eventide.errors import BrokenPlugin, EventideWarning, UnknownName
from eventide.features.encoders import ENCODERS, encoder
from eventide.losses import LOSSES
from eventide.methods import METHODS
from eventide.model import EventClassifier
from eventide.registry import Registry
from eventide.reports.claims import CLAIMS
from eventide.reports.claims.findings import chosen_claims
from eventide.reports.figures import FIGURES

MODULE = '''
import numpy as np
from eventide.features.encoders.text_encoder import TextEncoder
from eventide.methods.baselines.logistic_regression import LrEncoder

class Mine(LrEncoder):
    """A method of another package."""

def short(embeddings):
    return embeddings.abs().sum(dim=1)

SHOWN, DRAWN = "a claim", "a figure"

class Lengths(TextEncoder):
    width = 2
    def __init__(self, argument=None):
        super().__init__("lengths")
    def vectors(self, texts):
        return np.array([[len(text), text.count(" ")] for text in texts], dtype=np.float32)
'''
POINTS = """
[eventide.methods]
mine = otherpackage:Mine
broken = otherpackage.nowhere:Thing
ucl = otherpackage:Mine
odd = otherpackage

[eventide.losses]
short = otherpackage:short

[eventide.encoders]
lengths = otherpackage:Lengths

[eventide.datasets]
lost = otherpackage:DATASET

[eventide.claims]
lost-claim = otherpackage:CLAIM
shown = otherpackage:SHOWN

[eventide.figures]
drawn = otherpackage:DRAWN
"""


REGISTRIES = (METHODS, ENCODERS, DATASETS, CLAIMS, FIGURES, LOSSES)


@pytest.fixture
def other_package(tmp_path, monkeypatch):
    """A distribution on the path, as pip would have put it there."""
    (tmp_path / "otherpackage.py").write_text(MODULE)
    about = tmp_path / "other_package-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: other-package\nVersion: 1.0\nSummary: things of others\n"
    )
    (about / "entry_points.txt").write_text(POINTS)
    monkeypatch.syspath_prepend(tmp_path)
    for registry in REGISTRIES:
        monkeypatch.setattr(registry, "_found", None)
        monkeypatch.setattr(registry, "_refused", set())
    yield
    sys.modules.pop("otherpackage", None)
    for registry in REGISTRIES:
        registry._found = None


@pytest.mark.filterwarnings("ignore:the plug-in")
def test_a_method_and_an_encoder_of_another_package(other_package, small_sample, tmp_path):
    assert "mine" in METHODS
    entry = METHODS.entry("mine")
    assert (entry.summary, entry.group, entry.package) == (
        "things of others", "plug-in", "other-package",
    )  # fmt: skip
    model = EventClassifier(method="mine", encoder="lengths+tfidf-svd:8").fit(small_sample)
    assert len(model.predict(small_sample)) == len(small_sample)
    import eventide

    loaded = eventide.load(model.save(tmp_path / "model"))
    assert (loaded.predict(small_sample) == model.predict(small_sample)).all()
    assert encoder("lengths").width == 2


def test_a_loss_of_another_package_is_chosen_by_a_setting(other_package, small_sample):
    model = EventClassifier(
        method="ce", encoder="tfidf-svd:8", training__epochs=1, loss__extra_terms="short:0.1"
    ).fit(small_sample)
    assert model.history_[0]["short"] > 0


def test_what_cannot_be_taken_is_reported_and_left_out(other_package):
    with pytest.warns(EventideWarning) as told:
        names = METHODS.names()
    said = "\n".join(str(each.message) for each in told)
    assert "'ucl' of the package other-package is left out: that name is taken" in said
    assert "'odd' of the package other-package is left out" in said
    assert METHODS.entry("ucl").package is None
    assert "odd" not in names
    assert METHODS.names() == names  # and is reported once


@pytest.mark.filterwarnings("ignore:the plug-in")
def test_a_broken_plugin_is_an_error_only_for_who_asks_for_it(other_package):
    assert "broken" in METHODS.names()
    with pytest.raises(BrokenPlugin, match="ModuleNotFoundError"):
        METHODS.load("broken")
    assert METHODS.load("ce")
    with pytest.warns(EventideWarning, match="'lost' cannot be loaded: AttributeError"):
        found = [row["name"] for row in listing()]
    assert "crisislex-t7" in found
    assert "lost" not in found


@pytest.mark.filterwarnings("ignore:the plug-in .* is left out")
def test_claims_and_figures_of_another_package(other_package):
    assert FIGURES.load("drawn") == "a figure"
    with pytest.warns(EventideWarning, match="'lost-claim' cannot be loaded: AttributeError"):
        claims = chosen_claims()
    assert claims["shown"] == "a claim"
    assert "lost-claim" not in claims
    assert set(claims) > {"order", "margins"}
    with pytest.raises(BrokenPlugin):
        chosen_claims(["lost-claim"])


def test_a_package_that_appears_later_is_found_by_name(other_package, monkeypatch):
    registry = Registry("encoder", plugins="eventide.encoders")
    assert "lengths" in registry.names()
    monkeypatch.setattr(registry, "_found", {})
    assert registry.entry("lengths").package == "other-package"


def test_an_unknown_name_suggests_plugins_too(other_package):
    with pytest.raises(UnknownName, match="did you mean 'lengths'"):
        encoder("lenghts")


def test_a_registry_without_plugins_looks_nowhere():
    registry = Registry("shape")
    registry.add("path", "pathlib:PurePosixPath", "a path")
    assert list(registry) == [registry.entry("path")]
    with pytest.raises(ValueError, match="registered already"):
        registry.add("path", "pathlib:PurePosixPath", "a path")
