"""The table of regimes, and how names are read."""

import pytest

from eventide.errors import BadSetting
from eventide.experiments.regimes import REGIMES, regime, regime_names
from tree import ROOT


def test_names_are_read_and_wrong_ones_refused():
    assert regime_names("all") == list(REGIMES)
    assert regime_names("random, scarce-5,random") == ["random", "scarce-5"]
    assert regime("corrupted-view-30").draw.keywords == {"percent": 30}
    assert regime("chronological-gap-1.5").draw.keywords == {"gap_days": 1.5}
    for wrong in ("scarce", "corrupted-view-200", "label-noise--3", "randm"):
        with pytest.raises(BadSetting, match="no regime"):
            regime(wrong)
    with pytest.raises(BadSetting, match="no regime to compare"):
        regime_names(" , ")


def test_the_page_has_every_regime():
    page = (ROOT / "docs" / "benchmark.md").read_text(encoding="utf-8")
    assert [name for name in REGIMES if f"| `{name}` |" not in page] == []
