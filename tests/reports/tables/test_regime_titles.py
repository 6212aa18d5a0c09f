"""What regimes, their messages and seeds are called."""

import pytest

from eventide.experiments.regimes import REGIMES
from eventide.reports.tables.regime_titles import described_messages, seeds, short_title
from invented_regimes import invented


def test_short_titles_are_short_and_differ():
    titles = [short_title(name) for name in REGIMES]
    assert max(map(len, titles)) <= 10
    assert len(set(titles)) == len(REGIMES)


@pytest.mark.parametrize(
    ("name", "title"),
    [("scarce-3", "scarce-3"), ("label-noise-20", "noise-20"), ("weak-vectorsy", "weak-vectorsy")],
)
def test_numbers_stay_and_strangers_keep_their_names(name, title):
    assert short_title(name) == title


def test_events_in_turn_are_no_seeds():
    results = invented({"random": {"ce": [0.5, 0.5]}, "unseen-event": {"ce": [0.5] * 7}})
    assert seeds(results) == "2 seeds"
    assert seeds(invented({"unseen-event": {"ce": [0.5]}})) == "each event left out in turn"
    assert described_messages(results) == "locked test messages (crisislex-1)"
