"""Every method predicts what it predicted when the stored values were last renewed."""

import json

import numpy as np
import pytest

import expected_predictions as expected

ALLOWED = {"tsc": 0.02}
"""It matches classes with targets, a choice that the last digits of a processor can tip."""
STORED = json.loads(expected.STORED.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def frame():
    return expected.messages()


def test_every_method_has_stored_values():
    assert list(STORED) == expected.NAMES


@pytest.mark.parametrize("name", expected.NAMES)
def test_a_method_predicts_what_it_did(name, frame):
    """Renew with ``python tests/support/expected_predictions.py`` where a change is meant."""
    found = expected.predictions(name, frame)
    for kind, values in STORED[name].items():
        allowed = ALLOWED.get(name, 0.005)
        np.testing.assert_allclose(found[kind], values, atol=allowed, err_msg=kind)
