"""What can be asked of an experiment."""

import pytest

from eventide.errors import BadSetting
from eventide.experiments.jobs import checked_protocol


def test_a_chronological_split_is_inductive():
    assert checked_protocol("chronological", "inductive") == "inductive"
    with pytest.raises(BadSetting, match="inductive"):
        checked_protocol("chronological", "transductive")


@pytest.mark.parametrize(("split", "protocol"), [("no", None), ("random", "no")])
def test_unknown_words_are_refused(split, protocol):
    with pytest.raises(BadSetting, match="there is no"):
        checked_protocol(split, protocol)
