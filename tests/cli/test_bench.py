"""``eventide bench checks``: a table for people, JSON for programs, and an exit code for CI."""

import json

import pytest
from typer.testing import CliRunner

import eventide.data.sample
from eventide.cli.bench import chosen_methods
from eventide.cli.main import app
from eventide.errors import UnknownName
from eventide.methods import METHODS
from eventide.methods.baselines.logistic_regression import LrEncoder
from eventide.testing.checks import CHECKS


@pytest.fixture(autouse=True)
def small(small_sample, monkeypatch):
    monkeypatch.setattr(eventide.data.sample, "sample", lambda: small_sample)


def bench(*words):
    return CliRunner().invoke(app, ["bench", "checks", *words], catch_exceptions=False)


def test_a_sound_method_passes():
    shown = bench("--methods", "lr-encoder", "--epochs", "1")
    assert shown.exit_code == 0
    assert f"{len(CHECKS)} of {len(CHECKS)} checks passed" in shown.output
    assert shown.output.count("passed") == len(CHECKS) + 1


def test_a_failed_check_is_shown_and_ends_with_1(monkeypatch):
    def broken(self, training_set):
        raise RuntimeError("out of order")

    monkeypatch.setattr(LrEncoder, "learn", broken)
    shown = bench("--methods", "lr-encoder")
    assert shown.exit_code == 1
    assert "FAILED" in shown.output
    assert "out of order" in shown.output
    rows = json.loads(bench("--methods", "lr-encoder", "--json").output)
    assert [row["check"] for row in rows] == list(CHECKS)
    assert not any(row["passed"] for row in rows)


def test_methods_are_chosen_by_name_and_by_group():
    assert chosen_methods(None) == METHODS.names()
    assert chosen_methods("ucl, ours") == ["ucl", "ucl-ec", "ucl+cb", "ucl-ec+cb", "ucl-sharp"]
    with pytest.raises(UnknownName):
        chosen_methods("yardstik")
