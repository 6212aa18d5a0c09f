"""Presets with regimes: plain splits today, named regimes where this version has them."""

from types import SimpleNamespace

import pytest

from eventide.errors import BadSetting
from eventide.features.encoders import DEFAULT_ENCODER
from eventide.reports.claims.conditions import conditions


def test_every_preset_with_every_split():
    found = conditions(["paper", "default", "paper"], ["paper-random", "chronological"])
    assert [(each["preset"], each["split"]) for each in found] == [
        ("paper", "random"),
        ("paper", "chronological"),
        ("default", "random"),
        ("default", "chronological"),
    ]
    assert all(each["encoder"] == DEFAULT_ENCODER and "regime" not in each for each in found)
    assert conditions(["paper"], ["per-class"], "minilm") == [
        {"preset": "paper", "split": "random", "encoder": "minilm"}
    ]


def test_a_regime_has_its_own_protocol_and_encoder(monkeypatch):
    regimes = {
        "scarce-10": SimpleNamespace(protocol="inductive"),
        "weak-vectors": SimpleNamespace(protocol="inductive", encoder="tfidf-svd:16"),
    }
    monkeypatch.setattr("eventide.reports.claims.conditions.known_regimes", lambda: regimes)
    scarce, weak = conditions(["default"], ["scarce-10", "weak-vectors"], "minilm")
    assert scarce == {
        "preset": "default",
        "regime": "scarce-10",
        "split": "random",
        "protocol": "inductive",
        "encoder": "minilm",
    }
    assert weak["encoder"] == "tfidf-svd:16"


@pytest.mark.parametrize(
    ("presets", "regimes", "says"),
    [
        (["papr"], ["random"], "did you mean 'paper'"),
        (["paper"], ["randon"], "did you mean 'random'"),
        ([], ["random"], "at least one preset"),
        (["paper"], [], "at least one preset"),
    ],
)
def test_what_is_no_condition_is_refused(presets, regimes, says):
    with pytest.raises(BadSetting) as refused:
        conditions(presets, regimes)
    assert says in str(refused.value)
