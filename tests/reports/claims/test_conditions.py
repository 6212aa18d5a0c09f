"""Presets with regimes: named ones on locked messages, and plain splits."""

import pytest

from eventide.errors import BadSetting
from eventide.features.encoders import DEFAULT_ENCODER
from eventide.reports.claims.conditions import conditions


def test_every_preset_with_every_regime():
    found = conditions(["paper", "default", "paper"], ["paper-random", "scarce-10", "weak-vectors"])
    assert [(each["preset"], each.get("regime", each.get("split"))) for each in found] == [
        (preset, regime)
        for preset in ("paper", "default")
        for regime in ("random", "scarce-10", "weak-vectors")
    ]
    plain, scarce, weak = found[:3]
    assert plain == {"preset": "paper", "split": "random", "encoder": DEFAULT_ENCODER}
    assert scarce["protocol"] == "inductive"
    assert (scarce["encoder"], weak["encoder"]) == (DEFAULT_ENCODER, "tfidf-svd:16")


def test_without_regimes_a_plain_split():
    assert conditions(["paper"], split="stored", encoder="minilm") == [
        {"preset": "paper", "split": "stored", "encoder": "minilm"}
    ]
    # A regime may be called as a split is: it tests locked messages.
    assert conditions(["paper"], ["random"])[0]["regime"] == "random"


@pytest.mark.parametrize(
    ("presets", "regimes", "says"),
    [
        (["papr"], [], "did you mean 'paper'"),
        (["paper"], ["scarse-10"], "did you mean 'scarce-10'"),
        ([], [], "at least one preset"),
        (["paper"], ["unseen-event"], "takes its turn"),
    ],
)
def test_what_is_no_condition_is_refused(presets, regimes, says):
    with pytest.raises(BadSetting) as refused:
        conditions(presets, regimes)
    assert says in str(refused.value)
