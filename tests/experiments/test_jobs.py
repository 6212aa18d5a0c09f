"""What can be asked of an experiment."""

import sys

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


def test_the_code_of_a_run_covers_losses_of_other_packages(monkeypatch):
    """A loss without a source file cannot be recognised, so runs with it are not kept."""
    from types import ModuleType

    from eventide.experiments.jobs import code_of
    from eventide.losses import LOSSES
    from eventide.settings import resolve

    module = ModuleType("typed_in_loss")
    module.own = lambda labels: labels * 0.0
    monkeypatch.setitem(sys.modules, "typed_in_loss", module)
    monkeypatch.setattr(LOSSES, "_entries", dict(LOSSES._entries))
    LOSSES.add("own", "typed_in_loss:own", "a loss of another package")
    plain, mine = resolve(), resolve({"loss.extra_terms": "own:1"})
    assert code_of("ucl", "tfidf-svd", plain) == code_of("ucl", "tfidf-svd", plain)
    assert code_of("ucl", "tfidf-svd", mine) != code_of("ucl", "tfidf-svd", mine)
