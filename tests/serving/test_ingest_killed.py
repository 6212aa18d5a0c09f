"""kill -9 while messages come in: what was acknowledged is there, once."""

import os
import re
import subprocess
import sys

import pytest

from tree import ROOT


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="services are forked")
def test_no_acknowledged_message_is_lost_or_doubled():
    """Ten times here; `python benchmarks/killing.py --rounds 100` does it a hundred times."""
    words = [sys.executable, ROOT / "benchmarks" / "killing.py", "--rounds", "10"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    found = re.fullmatch(r"10 kills .*: ([\d,]+) acknowledged, .* 0 lost, 0 doubled\n", done.stdout)
    assert found
    assert int(found[1].replace(",", "")) > 10
