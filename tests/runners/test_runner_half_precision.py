"""Mixed precision: it trains where the processor allows it, and says so where it does not."""

import os
import subprocess
import sys

import pytest
import torch

from eventide.errors import BadSetting
from eventide.runners import runner as half_precision

TRAIN = """
from eventide import EventClassifier
from eventide.data.sample import sample
messages = sample().head(400)
model = EventClassifier(
    training__mixed_precision=True, training__epochs=2, encoder="tfidf-svd:64"
).fit(messages)
assert model.predict_proba(messages.head(5)).sum() > 4.99
"""


def test_it_trains_with_instructions_that_every_machine_has():
    environment = os.environ | {"ONEDNN_MAX_CPU_ISA": "AVX2"}
    done = subprocess.run(
        [sys.executable, "-c", TRAIN], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("survives", [True, False])
def test_a_processor_that_would_kill_the_program_is_an_error(monkeypatch, survives):
    monkeypatch.setattr(half_precision, "survives_half_precision", lambda: survives)
    device = torch.device("cpu")
    if survives:
        half_precision.check_half_precision(device)
        return
    with pytest.raises(BadSetting, match="does not allow it"):
        half_precision.check_half_precision(device)


def test_the_probe_reports_a_child_that_dies(monkeypatch):
    monkeypatch.setattr(half_precision, "PROBE", "import os; os.abort()")
    half_precision.survives_half_precision.cache_clear()
    assert not half_precision.survives_half_precision()
    monkeypatch.setattr(half_precision, "PROBE", "pass")
    half_precision.survives_half_precision.cache_clear()
    assert half_precision.survives_half_precision()
    half_precision.survives_half_precision.cache_clear()
